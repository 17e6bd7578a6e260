#include "base/probe.h"

#include <algorithm>

namespace revenant {
namespace {
std::atomic<Probe*> first_probe{nullptr};
}  // namespace

Probe::Probe(const char* name) : name_(name) {
    next_ = first_probe.load(std::memory_order_relaxed);
    while (!first_probe.compare_exchange_weak(next_, this, std::memory_order_release)) {
    }
}

std::uint64_t Probe::hits(std::string_view name) {
    std::uint64_t total = 0;
    for (Probe* probe = first_probe.load(std::memory_order_acquire); probe != nullptr;
         probe = probe->next_) {
        if (probe->name() == name) total += probe->count();
    }
    return total;
}

std::vector<std::string_view> Probe::reached() {
    std::vector<std::string_view> names;
    for (Probe* probe = first_probe.load(std::memory_order_acquire); probe != nullptr;
         probe = probe->next_) {
        if (probe->count() > 0) names.push_back(probe->name());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace revenant
