#ifndef AFAR_JSON_DOCUMENT_H
#define AFAR_JSON_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A JSON document (RFC 8259) that was checked to its end, as a list of nodes in the order of the text.
///
/// - A value is a node: where it begins in the text, and for a string or a number how long it is.
/// - An array or an object is three nodes (`afar_json_container`), then its elements, or its members: a key's node, then
///   the value's.
typedef struct {
    /// Where the text of the value or the key begins; of an array or an object with `afar_json_is_container`.
    uint32_t offset;
    /// Of a string, the length between the quotation marks, and `afar_json_is_escaped` if it has escapes; of a number,
    /// the length, and `afar_json_is_integer` if it has neither fraction nor exponent; of a key, the key's number; of an array or an
    /// object, the number of the node after its last.
    uint32_t extent;
} afar_json_node;

/// The three nodes of an array or an object.
typedef struct {
    afar_json_node node;
    /// How many elements or members there are.
    uint32_t count;
    /// Free for the reader.
    uint32_t mark;
    /// The array or object that this one is in; of the root, itself.
    uint32_t parent;
    /// Where in the parent: an index or a key's number.
    uint32_t place;
} afar_json_container;

static const uint32_t afar_json_is_container = 0x80000000u;
static const uint32_t afar_json_is_escaped = 0x80000000u;
static const uint32_t afar_json_is_integer = 0x80000000u;
/// What is left of an offset or an extent without the bits above.
static const uint32_t afar_json_length = 0x7FFFFFFFu;
/// No key has this number.
static const uint32_t afar_json_no_key = 0xFFFFFFFFu;
/// In an object's `count`: a key stands in it twice.
static const uint32_t afar_json_has_duplicates = 0x80000000u;
/// In an object's `count`: its keys are data, not names. The reader sets it.
static const uint32_t afar_json_is_dictionary = 0x40000000u;
/// What is left of a count without the bits above.
static const uint32_t afar_json_count = 0x3FFFFFFFu;

/// A name that members have, in UTF-8, without escapes. Equal names are one key.
typedef struct {
    const char *name;
    size_t length;
} afar_json_key;

typedef struct {
    /// The text, and behind it `null` and bytes that are 0, so that a reader may look past a value.
    const char *text;
    size_t length;
    afar_json_node *nodes;
    /// The root is node 0. Behind the last node is one for the `null` behind the text.
    uint32_t node_count;
    const afar_json_key *keys;
    uint32_t key_count;
    /// Whether all names are ASCII; others may be equal though their bytes are not.
    bool keys_are_ascii;
    /// What owns all of the above.
    void *storage;
} afar_json_document;

typedef enum {
    afar_json_ok,
    /// The text is no JSON.
    afar_json_malformed,
    /// Half of a surrogate pair stands alone in a string.
    afar_json_lone_surrogate,
    afar_json_too_deep,
    /// The text has 2 GiB or more.
    afar_json_too_large,
    afar_json_out_of_memory,
    /// simdjson has nothing for this processor, or was told to use nothing.
    afar_json_unsupported_processor,
} afar_json_status;

/// Copies a text, checks it, and lists its values. The document is to be freed when the status is `afar_json_ok`, and only then.
/// With another status, `document->length` is where in the text the reader stopped, as far as it knows.
afar_json_status afar_json_open(const void *text, size_t length, uint32_t maximum_depth, afar_json_document *document);
void afar_json_close(const afar_json_document *document);

/// The number of the key with a name, or `afar_json_no_key`.
uint32_t afar_json_find_key(const afar_json_document *document, const char *name, size_t length);

/// Writes what a string stands for, which is never longer, and returns its length.
size_t afar_json_unescape(const char *string, size_t length, char *out);

/// The double nearest to a number; infinity if the number is too large, or too close to 0.
double afar_json_double(const char *number, size_t length);

/// The float nearest to a number; infinity if the number is too large, or too close to 0.
float afar_json_float(const char *number, size_t length);

#ifdef __cplusplus
}
#endif

#endif
