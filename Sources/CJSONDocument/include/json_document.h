#ifndef AFAR_JSON_DOCUMENT_H
#define AFAR_JSON_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A validated JSON document (RFC 8259), as a list of nodes in the order of the text.
///
/// - A value is one node: its offset in the text, and for a string or a number its length.
/// - An array or an object is three nodes (`afar_json_container`), followed by its elements or its members. A member is a key's node
///   and the value's nodes.
typedef struct {
    /// The offset of the value or the key in the text, combined with `afar_json_is_container` for an array or an object.
    uint32_t offset;
    /// Depends on the kind of node.
    ///
    /// - String: the length between the quotation marks, and `afar_json_is_escaped` if it has escapes.
    /// - Number: the length, and `afar_json_is_integer` if it has neither a fraction nor an exponent.
    /// - Key: the key's number.
    /// - Array or object: the number of the node that follows it.
    uint32_t extent;
} afar_json_node;

/// The three nodes of an array or an object.
typedef struct {
    afar_json_node node;
    /// The number of elements or members.
    uint32_t count;
    /// For use by the reader.
    uint32_t mark;
    /// The node of the enclosing array or object. For the root, the root itself.
    uint32_t parent;
    /// The index in the parent array, or the key's number in the parent object.
    uint32_t place;
} afar_json_container;

static const uint32_t afar_json_is_container = 0x80000000u;
static const uint32_t afar_json_is_escaped = 0x80000000u;
static const uint32_t afar_json_is_integer = 0x80000000u;
/// Masks the flags above out of an offset or an extent.
static const uint32_t afar_json_length = 0x7FFFFFFFu;
/// Stands for no key.
static const uint32_t afar_json_no_key = 0xFFFFFFFFu;
/// A flag in an object's `count`: it contains a key twice.
static const uint32_t afar_json_has_duplicates = 0x80000000u;
/// A flag in an object's `count`: its keys are data, not names. The reader sets it.
static const uint32_t afar_json_is_dictionary = 0x40000000u;
/// Masks the flags above out of a count.
static const uint32_t afar_json_count = 0x3FFFFFFFu;

/// A member name in UTF-8, without escapes. Equal names are one key.
typedef struct {
    const char *name;
    size_t length;
} afar_json_key;

typedef struct {
    /// The text, followed by `null` and zeros, so readers can read past a value.
    const char *text;
    size_t length;
    afar_json_node *nodes;
    /// The number of nodes. The root is node 0. An additional node after the last one represents the `null` after the text.
    uint32_t node_count;
    const afar_json_key *keys;
    uint32_t key_count;
    /// Whether all names are ASCII. Other names can be equal although their bytes differ.
    bool keys_are_ascii;
    /// The owner of all of the above.
    void *storage;
} afar_json_document;

typedef enum {
    afar_json_ok,
    /// The text is not valid JSON.
    afar_json_malformed,
    /// A string contains half of a surrogate pair.
    afar_json_lone_surrogate,
    afar_json_too_deep,
    /// The text has 2 GiB or more.
    afar_json_too_large,
    afar_json_out_of_memory,
    /// simdjson doesn't support this processor, or was configured to use no implementation.
    afar_json_unsupported_processor,
} afar_json_status;

/// Copies a text, checks it, and lists its values.
///
/// Close the document if and only if the status is `afar_json_ok`. With another status, `document->length` is the position at
/// which the reader stopped, if it is known.
afar_json_status afar_json_open(const void *text, size_t length, uint32_t maximum_depth, afar_json_document *document);
void afar_json_close(const afar_json_document *document);

/// Returns the number of the key with a name, or `afar_json_no_key`.
uint32_t afar_json_find_key(const afar_json_document *document, const char *name, size_t length);

/// Writes the unescaped string and returns its length, which is never greater than `length`.
size_t afar_json_unescape(const char *string, size_t length, char *out);

/// Returns the double nearest to a number; infinity if the number is too large, or too close to 0.
double afar_json_double(const char *number, size_t length);

/// Returns the float nearest to a number; infinity if the number is too large, or too close to 0.
float afar_json_float(const char *number, size_t length);

#ifdef __cplusplus
}
#endif

#endif
