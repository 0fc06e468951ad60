#include "json_keys.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace afar {

namespace {

constexpr uint64_t odd = 0x9E3779B97F4A7C15;

/// The seed differs in each process, so an attacker can't choose names that collide.
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

/// Doesn't read past the name.
uint32_t hash(const char *name, size_t length) {
    uint64_t state = seed ^ length;
    if (length >= 8) {
        const char *last = name + length - 8;
        for (; name < last; name += 8) state = mix(state ^ word(name), odd);
        state = mix(state ^ word(last), odd ^ seed);
    } else {
        uint64_t bytes = 0;
        memcpy(&bytes, name, length);
        state = mix(state ^ bytes, odd ^ seed);
    }
    return static_cast<uint32_t>(state ^ state >> 32);
}

} // namespace

Keys::Keys() : keys(), successors(), slots(64), unescaped() { keys.reserve(32); }

bool Keys::is(uint32_t number, const char *name, size_t length) const {
    const afar_json_key &key = keys[number];
    return key.length == length && memcmp(key.name, name, length) == 0;
}

uint32_t Keys::intern(const char *name, size_t length, bool is_escaped) {
    if (is_escaped) {
        auto copy = std::make_unique<char[]>(length);
        length = afar_json_unescape(name, length, copy.get());
        name = copy.get();
        unescaped.push_back(std::move(copy));
    }
    const bool is_successor = !keys.empty() && is(successors[previous], name, length);
    previous = is_successor ? successors[previous] : insert(name, length);
    return previous;
}

uint32_t Keys::insert(const char *name, size_t length) {
    const uint32_t hash = afar::hash(name, length);
    const size_t index = slot(name, length, hash);
    uint32_t number = slots[index].number_plus_one - 1;
    if (slots[index].number_plus_one == 0) {
        number = count();
        is_ascii = is_ascii && std::none_of(name, name + length, [](char byte) { return byte & 0x80; });
        keys.push_back({name, length});
        successors.push_back(0);
        slots[index] = {hash, number + 1};
        if (keys.size() * 2 > slots.size()) grow();
    }
    successors[previous] = number;
    return number;
}

uint32_t Keys::find(const char *name, size_t length) const {
    // An empty slot contains 0, so the result is afar_json_no_key.
    return slots[slot(name, length, hash(name, length))].number_plus_one - 1;
}

size_t Keys::slot(const char *name, size_t length, uint32_t hash) const {
    const size_t mask = slots.size() - 1;
    size_t index = hash & mask;
    while (slots[index].number_plus_one != 0) {
        if (slots[index].hash == hash && is(slots[index].number_plus_one - 1, name, length)) break;
        index = (index + 1) & mask;
    }
    return index;
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
