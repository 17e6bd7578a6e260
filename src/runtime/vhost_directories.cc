#include "runtime/vhost_directories.h"

#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace revenant::runtime {
namespace {

constexpr std::size_t name_bytes_max = 120;
constexpr std::string_view deletion_mark = "deleted";

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Whether a virtual host could have a directory of that name; others are none of our business.
bool is_ours(std::string_view name) {
    return std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '%';
    });
}

Unexpected<std::string> failed(journal::IoError error) { return Unexpected{std::move(error.text)}; }

}  // namespace

std::string directory_name(std::string_view vhost) {
    std::string name;
    for (const char c : vhost) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
            name.push_back(c);
        } else {
            char escaped[4];
            std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned char>(c));
            name += escaped;
        }
    }
    if (name.size() > name_bytes_max) {
        name.resize(name_bytes_max);
        name += '-' + std::to_string(XXH3_64bits(vhost.data(), vhost.size()));
    }
    return name;
}

std::optional<std::string> vhost_named_by(std::string_view directory) {
    std::string vhost;
    for (std::size_t i = 0; i < directory.size(); ++i) {
        if (directory[i] != '%') {
            vhost.push_back(directory[i]);
            continue;
        }
        if (i + 2 >= directory.size()) return std::nullopt;
        const int high = digit_of(directory[i + 1]);
        const int low = digit_of(directory[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        vhost.push_back(static_cast<char>(high * 16 + low));
        i += 2;
    }
    if (directory_name(vhost) != directory) return std::nullopt;
    return vhost;
}

std::string VhostDirectories::path_of(std::string_view vhost) const {
    return parent_ + "/" + directory_name(vhost);
}

Result<void, std::string> VhostDirectories::mark_deleted(std::string_view vhost) {
    const std::string directory = path_of(vhost);
    auto mark = disk_.create(directory + "/" + std::string(deletion_mark));
    if (!mark) return failed(std::move(mark).error());
    if (auto synced = disk_.sync_directory(directory); !synced) {
        return failed(std::move(synced).error());
    }
    return {};
}

Result<bool, std::string> VhostDirectories::is_marked(const std::string& directory) {
    auto names = disk_.list(directory);
    if (!names) return failed(std::move(names).error());
    return std::find(names->begin(), names->end(), deletion_mark) != names->end();
}

Result<std::vector<std::string>, std::string> VhostDirectories::tidy(
    const std::set<std::string>& vhosts) {
    std::set<std::string> known;
    for (const std::string& vhost : vhosts) known.insert(directory_name(vhost));
    auto names = disk_.list(parent_);
    if (!names) return failed(std::move(names).error());
    std::vector<std::string> strangers;
    for (const std::string& name : *names) {
        if (!is_ours(name)) continue;
        const std::string directory = parent_ + "/" + name;
        REVENANT_TRY(const bool marked, is_marked(directory));
        if (known.contains(name)) {
            // The catalog did not get to forget it.
            if (!marked) continue;
            auto unmarked = disk_.remove(directory + "/" + std::string(deletion_mark));
            if (!unmarked) return failed(std::move(unmarked).error());
        } else if (marked) {
            auto removed = disk_.remove_directory(directory);
            if (!removed) return failed(std::move(removed).error());
        } else {
            strangers.push_back(name);
        }
    }
    return strangers;
}

}  // namespace revenant::runtime
