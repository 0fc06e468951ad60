#include "json_keys.h"

#include <cstring>
#include <random>

namespace afar {

namespace {

constexpr uint64_t odd = 0x9E3779B97F4A7C15;

/// Another number in each process, so that nobody can choose names that meet in one slot.
const uint64_t seed = [] {
    std::random_device random;
    return uint64_t(random()) << 32 | random();
}();

uint64_t mix(uint64_t one, uint64_t other) {
    const auto product = static_cast<unsigned __int128>(one) * other;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t word(const char *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

uint32_t hash(const char *name, size_t length) {
    uint64_t state = seed ^ length;
    while (length > 8) {
        state = mix(state ^ word(name), odd);
        name += 8;
        length -= 8;
    }
    // Of the last word, what belongs to the name.
    const uint64_t last = length == 0 ? 0 : word(name) << (64 - 8 * length);
    state = mix(state ^ last, odd ^ seed);
    return static_cast<uint32_t>(state ^ state >> 32);
}

} // namespace

Keys::Keys() : keys(), slots(64), unescaped() { keys.reserve(32); }

uint32_t Keys::intern(const char *name, size_t length, bool is_escaped) {
    if (is_escaped) {
        auto copy = std::make_unique<char[]>(length + 8);
        length = afar_json_unescape(name, length, copy.get());
        name = copy.get();
        unescaped.push_back(std::move(copy));
    }
    const uint32_t hash = afar::hash(name, length);
    const size_t mask = slots.size() - 1;
    size_t index = hash & mask;
    while (slots[index].number_plus_one != 0) {
        if (slots[index].hash == hash) {
            const afar_json_key &key = keys[slots[index].number_plus_one - 1];
            if (key.length == length && memcmp(key.name, name, length) == 0) return slots[index].number_plus_one - 1;
        }
        index = (index + 1) & mask;
    }
    keys.push_back({name, length});
    slots[index] = {hash, count()};
    if (keys.size() * 2 > slots.size()) grow();
    return count() - 1;
}

void Keys::grow() {
    std::vector<Slot> larger(slots.size() * 2);
    const size_t mask = larger.size() - 1;
    for (const Slot &slot : slots) {
        if (slot.number_plus_one == 0) continue;
        size_t index = slot.hash & mask;
        while (larger[index].number_plus_one != 0) index = (index + 1) & mask;
        larger[index] = slot;
    }
    slots = std::move(larger);
}

} // namespace afar
