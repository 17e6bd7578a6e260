// Dice: small random numbers from a seed, the same on every machine.
#pragma once

#include <cstdint>
#include <string>

namespace revenant::sim {

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t x = state_;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        return x ^ (x >> 31);
    }
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    bool one_in(std::uint64_t chances) { return below(chances) == 0; }
    bool percent(std::uint64_t chance) { return below(100) < chance; }

    std::string bytes(std::size_t size) {
        std::string made;
        made.reserve(size + sizeof(std::uint64_t));
        while (made.size() < size) {
            const std::uint64_t piece = next();
            made.append(reinterpret_cast<const char*>(&piece), sizeof piece);
        }
        made.resize(size);
        return made;
    }

  private:
    std::uint64_t state_;
};

}  // namespace revenant::sim
