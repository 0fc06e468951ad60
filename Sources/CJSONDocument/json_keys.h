#ifndef AFAR_JSON_KEYS_H
#define AFAR_JSON_KEYS_H

#include <cstdint>
#include <memory>
#include <vector>

#include "json_document.h"

namespace afar {

/// The distinct names of a document's members. Each name is represented by its number.
class Keys {
  public:
    Keys();

    /// Returns the number of a name. Adds the name if it is new. The text must live as long as this object, and have 8 readable
    /// bytes after the name.
    uint32_t intern(const char *name, size_t length, bool is_escaped);

    /// Returns the number of a name, or `afar_json_no_key`.
    uint32_t find(const char *name, size_t length) const;

    const afar_json_key *all() const { return keys.data(); }
    bool are_ascii() const { return is_ascii; }
    uint32_t count() const { return static_cast<uint32_t>(keys.size()); }

  private:
    struct Slot {
        uint32_t hash;
        /// 0 for an empty slot.
        uint32_t number_plus_one;
    };

    std::vector<afar_json_key> keys;
    /// The key that last followed each key. Most objects have the same keys as the previous object.
    std::vector<uint32_t> successors;
    uint32_t previous = 0;
    bool is_ascii = true;
    /// A hash table. Its size is a power of two, and at least half of its slots are empty.
    std::vector<Slot> slots;
    std::vector<std::unique_ptr<char[]>> unescaped;

    bool is(uint32_t number, const char *name, size_t length) const;
    /// Returns the slot of a name, or the empty slot where it belongs.
    size_t slot(const char *name, size_t length, uint32_t hash) const;
    uint32_t insert(const char *name, size_t length);
    void grow();
};

} // namespace afar

#endif
