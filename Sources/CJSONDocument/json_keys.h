#ifndef AFAR_JSON_KEYS_H
#define AFAR_JSON_KEYS_H

#include <cstdint>
#include <memory>
#include <vector>

#include "json_document.h"

namespace afar {

/// The names of a document's members, each of them once. What stands in a name's place is its number.
class Keys {
  public:
    Keys();

    /// The number of a name. The text must live as long as this, and go on for 8 bytes behind the name.
    uint32_t intern(const char *name, size_t length, bool is_escaped);

    /// The number of a name, or `afar_json_no_key`.
    uint32_t find(const char *name, size_t length) const;

    const afar_json_key *all() const { return keys.data(); }
    bool are_ascii() const { return is_ascii; }
    uint32_t count() const { return static_cast<uint32_t>(keys.size()); }

  private:
    struct Slot {
        uint32_t hash;
        /// 0 in an empty slot.
        uint32_t number_plus_one;
    };

    std::vector<afar_json_key> keys;
    /// The key that came after each one last: most objects are like the one before.
    std::vector<uint32_t> successors;
    uint32_t previous = 0;
    bool is_ascii = true;
    /// A hash table whose size is a power of two, half empty at least.
    std::vector<Slot> slots;
    std::vector<std::unique_ptr<char[]>> unescaped;

    bool is(uint32_t number, const char *name, size_t length) const;
    /// The slot of a name, or the empty one where it belongs.
    size_t slot(const char *name, size_t length, uint32_t hash) const;
    uint32_t insert(const char *name, size_t length);
    void grow();
};

} // namespace afar

#endif
