#include "json_document.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include <simdjson.h>

#include "json_keys.h"

static_assert(sizeof(afar_json_container) == 3 * sizeof(afar_json_node));

namespace {

/// The number of bytes after the text (`null` and zeros). simdjson and the readers of keys can read this far past the end.
constexpr size_t padding = simdjson::SIMDJSON_PADDING + 8;

struct Storage {
    std::unique_ptr<char[]> text;
    std::unique_ptr<afar_json_node[]> nodes;
    afar::Keys keys;
};

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }
bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// Whether a number, `true`, `false` or `null` can end before a byte.
bool ends_scalar(char byte) { return is_space(byte) || byte == ',' || byte == ']' || byte == '}'; }

int hex_value(char byte) {
    if (is_digit(byte)) return byte - '0';
    char lower = static_cast<char>(byte | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The value of the four digits in \uXXXX, or -1.
int code_unit(const char *digits) {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        int value = hex_value(digits[i]);
        if (value < 0) return -1;
        unit = unit << 4 | value;
    }
    return unit;
}

bool is_high_surrogate(int unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_surrogate(int unit) { return unit >= 0xDC00 && unit < 0xE000; }

/// Creates nodes from the positions of brackets, commas, colons, strings and scalars that simdjson has found.
class Reader {
  public:
    Reader(Storage &storage, size_t length, const uint32_t *places, uint32_t count, uint32_t maximum_depth)
        : text(storage.text.get()), length(length), places(places), count(count), nodes(storage.nodes.get()),
          keys(storage.keys), open(maximum_depth), seen() {}

    afar_json_status read() {
        if (afar_json_status status = read_value()) return status;
        while (depth > 0) {
            afar_json_container &container = current();
            const char end = first(container) == '{' ? '}' : ']';
            const char byte = take();
            if (byte == end) {
                close();
            } else if (byte == ',' && container.count > 0) {
                if (afar_json_status status = read_member()) return status;
            } else {
                return afar_json_malformed;
            }
        }
        return next == count ? afar_json_ok : afar_json_malformed;
    }

    /// The position of the last value that was read.
    size_t place() const { return next == 0 ? 0 : places[next - 1]; }
    uint32_t node_count() const { return used; }

  private:
    const char *text;
    size_t length;
    const uint32_t *places;
    uint32_t count;
    uint32_t next = 0;
    afar_json_node *nodes;
    uint32_t used = 0;
    afar::Keys &keys;
    /// The open arrays and objects.
    std::vector<uint32_t> open;
    uint32_t depth = 0;
    /// For each key, the last closed object that contains it.
    std::vector<uint32_t> seen;
    uint32_t objects = 0;
    /// The first unread backslash, or the end of the text.
    const char *backslash = nullptr;

    afar_json_container &current() { return container(open[depth - 1]); }
    afar_json_container &container(uint32_t node) { return *reinterpret_cast<afar_json_container *>(&nodes[node]); }

    char first(const afar_json_container &container) const { return text[container.node.offset & afar_json_length]; }

    /// The byte at the next position; 0 after the last.
    char take() { return next < count ? text[places[next++]] : 0; }
    char peek() const { return next < count ? text[places[next]] : 0; }

    /// Reads an element or a member of the current container.
    afar_json_status read_member() {
        if (first(current()) == '{') {
            if (take() != '"') return afar_json_malformed;
            const uint32_t offset = places[next - 1];
            uint32_t extent;
            if (afar_json_status status = measure_string(offset, extent)) return status;
            uint32_t key = keys.intern(text + offset + 1, extent & afar_json_length, extent & afar_json_is_escaped);
            nodes[used++] = {offset, key};
            if (take() != ':') return afar_json_malformed;
        }
        current().count++;
        return read_value();
    }

    afar_json_status read_value() {
        const char byte = take();
        const uint32_t offset = next == 0 ? 0 : places[next - 1];
        uint32_t extent = 0;
        switch (byte) {
        case '{':
        case '[': {
            if (depth == open.size()) return afar_json_too_deep;
            const uint32_t node = used;
            const bool is_root = depth == 0;
            const uint32_t parent = is_root ? node : open[depth - 1];
            const bool is_member = !is_root && first(container(parent)) == '{';
            const uint32_t place = is_member ? nodes[node - 1].extent : is_root ? 0 : container(parent).count - 1;
            container(node) = {{offset | afar_json_is_container, 0}, 0, 0, parent, place};
            used += 3;
            open[depth++] = node;
            const char end = byte == '{' ? '}' : ']';
            if (peek() != end) return read_member();
            next++;
            close();
            return afar_json_ok;
        }
        case '"':
            if (afar_json_status status = measure_string(offset, extent)) return status;
            break;
        case 't':
            if (!is_word(offset, "true", 4)) return afar_json_malformed;
            break;
        case 'f':
            if (!is_word(offset, "false", 5)) return afar_json_malformed;
            break;
        case 'n':
            if (!is_word(offset, "null", 4)) return afar_json_malformed;
            break;
        default:
            if (!measure_number(offset, extent)) return afar_json_malformed;
        }
        nodes[used++] = {offset, extent};
        return afar_json_ok;
    }

    void close() {
        const uint32_t node = open[--depth];
        afar_json_container &closed = container(node);
        closed.node.extent = used;
        if (first(closed) == '{' && has_duplicates(node)) closed.count |= afar_json_has_duplicates;
    }

    bool has_duplicates(uint32_t node) {
        if (container(node).count < 2) return false;
        objects++;
        seen.resize(keys.count(), 0);
        for (uint32_t key = node + 3; key < used;) {
            uint32_t &last = seen[nodes[key].extent];
            if (last == objects) return true;
            last = objects;
            const afar_json_node &value = nodes[key + 1];
            key = value.offset & afar_json_is_container ? value.extent : key + 2;
        }
        return false;
    }

    bool is_end(size_t place) const { return place >= length || ends_scalar(text[place]); }

    bool is_word(uint32_t offset, const char *word, size_t size) const {
        return length - offset >= size && memcmp(text + offset, word, size) == 0 && is_end(offset + size);
    }

    /// Measures a number (RFC 8259, section 6). The text ends with a byte that can't be part of a number.
    bool measure_number(uint32_t offset, uint32_t &extent) const {
        const char *byte = text + offset;
        if (*byte == '-') byte++;
        if (!is_digit(*byte)) return false;
        const bool has_zero_first = *byte == '0';
        const char *digits = byte;
        while (is_digit(*byte)) byte++;
        if (has_zero_first && byte - digits > 1) return false;
        bool is_integer = true;
        if (*byte == '.') {
            is_integer = false;
            if (!is_digit(*++byte)) return false;
            while (is_digit(*byte)) byte++;
        }
        if (*byte == 'e' || *byte == 'E') {
            is_integer = false;
            byte++;
            if (*byte == '+' || *byte == '-') byte++;
            if (!is_digit(*byte)) return false;
            while (is_digit(*byte)) byte++;
        }
        const size_t end = static_cast<size_t>(byte - text);
        extent = static_cast<uint32_t>(end - offset) | (is_integer ? afar_json_is_integer : 0);
        return is_end(end);
    }

    /// Measures a string. Between its end and the next position, there is only white space. simdjson has checked that every
    /// string ends and contains no control characters.
    afar_json_status measure_string(uint32_t offset, uint32_t &extent) {
        const char *begin = text + offset + 1;
        const char *end = text + (next < count ? places[next] : length) - 1;
        while (is_space(*end)) end--;
        if (end < begin || *end != '"') return afar_json_malformed;
        extent = static_cast<uint32_t>(end - begin);
        if (backslash < begin) {
            const void *found = memchr(begin, '\\', length - static_cast<size_t>(begin - text));
            backslash = found == nullptr ? text + length : static_cast<const char *>(found);
        }
        if (backslash >= end) return afar_json_ok;
        extent |= afar_json_is_escaped;
        return check_escapes(backslash, end);
    }

    static afar_json_status check_escapes(const char *byte, const char *end) {
        while ((byte = static_cast<const char *>(memchr(byte, '\\', static_cast<size_t>(end - byte)))) != nullptr) {
            if (byte[1] != 'u') {
                if (strchr("\"\\/bfnrt", byte[1]) == nullptr || byte[1] == 0) return afar_json_malformed;
                byte += 2;
                continue;
            }
            if (end - byte < 6) return afar_json_malformed;
            const int unit = code_unit(byte + 2);
            if (unit < 0) return afar_json_malformed;
            byte += 6;
            if (is_low_surrogate(unit)) return afar_json_lone_surrogate;
            if (!is_high_surrogate(unit)) continue;
            const bool has_partner = end - byte >= 6 && byte[0] == '\\' && byte[1] == 'u';
            if (!has_partner || !is_low_surrogate(code_unit(byte + 2))) return afar_json_lone_surrogate;
            byte += 6;
        }
        return afar_json_ok;
    }
};

afar_json_status open_document(
    const void *text, size_t length, uint32_t maximum_depth, afar_json_document *document) {
    if (length == 0) return afar_json_malformed;
    if (length > afar_json_length) return afar_json_too_large;

    auto storage = std::make_unique<Storage>();
    storage->text.reset(new char[length + padding]);
    memcpy(storage->text.get(), text, length);
    memset(storage->text.get() + length, 0, padding);

    // simdjson chooses the implementation for the current processor.
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
    const simdjson::implementation *kernel = simdjson::get_active_implementation();
    simdjson::error_code error = kernel->create_dom_parser_implementation(length, 1, parser);
    if (error == simdjson::UNSUPPORTED_ARCHITECTURE) return afar_json_unsupported_processor;
    if (error != simdjson::SUCCESS) return afar_json_out_of_memory;
    const auto *bytes = reinterpret_cast<const uint8_t *>(storage->text.get());
    error = parser->stage1(bytes, length, simdjson::stage1_mode::regular);
    if (error == simdjson::MEMALLOC) return afar_json_out_of_memory;
    if (error != simdjson::SUCCESS) return afar_json_malformed;

    // A container takes three nodes and has two positions, which are its brackets (only one while the container is open). Other
    // nodes have one position.
    const size_t places = parser->n_structural_indexes;
    const size_t open = std::min<size_t>(places, maximum_depth);
    storage->nodes.reset(new afar_json_node[places + places / 2 + 2 * open + 1]);
    Reader reader(*storage, length, parser->structural_indexes.get(), static_cast<uint32_t>(places), maximum_depth);
    if (afar_json_status status = reader.read()) {
        document->length = reader.place();
        return status;
    }

    memcpy(storage->text.get() + length, "null", 4);
    storage->nodes[reader.node_count()] = {static_cast<uint32_t>(length), 0};
    document->text = storage->text.get();
    document->length = length;
    document->nodes = storage->nodes.get();
    document->node_count = reader.node_count();
    document->keys = storage->keys.all();
    document->key_count = storage->keys.count();
    document->keys_are_ascii = storage->keys.are_ascii();
    document->storage = storage.release();
    return afar_json_ok;
}

/// The powers of ten that a double represents exactly.
constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Converts a number with few digits. Its value is a quotient of two exact doubles (Clinger, 1990).
bool short_double(const char *number, size_t length, double &value) {
    const char *byte = number;
    const char *end = number + length;
    const bool is_negative = *byte == '-';
    if (is_negative) byte++;
    uint64_t digits = 0;
    int count = 0, exponent = 0;
    bool is_fraction = false;
    for (; byte < end; byte++) {
        if (is_digit(*byte)) {
            if (++count > 18) return false;
            digits = digits * 10 + static_cast<uint64_t>(*byte - '0');
            exponent -= is_fraction;
        } else if (*byte == '.') {
            is_fraction = true;
        } else {
            return false;
        }
    }
    if (digits > (uint64_t(1) << 53)) return false;
    value = static_cast<double>(digits) / powers[-exponent];
    if (is_negative) value = -value;
    return true;
}

template <typename Number> Number nearest(const char *number, size_t length) {
    Number value = 0;
    const auto result = std::from_chars(number, number + length, value);
    return result.ec == std::errc() ? value : std::numeric_limits<Number>::infinity();
}

} // namespace

afar_json_status afar_json_open(const void *text, size_t length, uint32_t maximum_depth, afar_json_document *document) {
    *document = {};
    try {
        return open_document(text, length, maximum_depth, document);
    } catch (const std::bad_alloc &) {
        return afar_json_out_of_memory;
    }
}

void afar_json_close(const afar_json_document *document) { delete static_cast<Storage *>(document->storage); }

uint32_t afar_json_find_key(const afar_json_document *document, const char *name, size_t length) {
    return static_cast<const Storage *>(document->storage)->keys.find(name, length);
}

size_t afar_json_unescape(const char *string, size_t length, char *out) {
    const char *byte = string;
    const char *end = string + length;
    char *begin = out;
    while (byte < end) {
        const void *found = memchr(byte, '\\', static_cast<size_t>(end - byte));
        const char *escape = found == nullptr ? end : static_cast<const char *>(found);
        memcpy(out, byte, static_cast<size_t>(escape - byte));
        out += escape - byte;
        byte = escape;
        if (byte == end) break;
        const char letter = byte[1];
        byte += 2;
        switch (letter) {
        case 'b': *out++ = '\b'; break;
        case 'f': *out++ = '\f'; break;
        case 'n': *out++ = '\n'; break;
        case 'r': *out++ = '\r'; break;
        case 't': *out++ = '\t'; break;
        case 'u': {
            uint32_t scalar = static_cast<uint32_t>(code_unit(byte));
            byte += 4;
            if (is_high_surrogate(static_cast<int>(scalar))) {
                scalar = 0x10000 + ((scalar - 0xD800) << 10) + static_cast<uint32_t>(code_unit(byte + 2)) - 0xDC00;
                byte += 6;
            }
            if (scalar < 0x80) {
                *out++ = static_cast<char>(scalar);
                break;
            }
            if (scalar < 0x800) {
                *out++ = static_cast<char>(0xC0 | scalar >> 6);
            } else {
                if (scalar < 0x10000) {
                    *out++ = static_cast<char>(0xE0 | scalar >> 12);
                } else {
                    *out++ = static_cast<char>(0xF0 | scalar >> 18);
                    *out++ = static_cast<char>(0x80 | (scalar >> 12 & 0x3F));
                }
                *out++ = static_cast<char>(0x80 | (scalar >> 6 & 0x3F));
            }
            *out++ = static_cast<char>(0x80 | (scalar & 0x3F));
            break;
        }
        default: *out++ = letter;
        }
    }
    return static_cast<size_t>(out - begin);
}

double afar_json_double(const char *number, size_t length) {
    double value;
    return short_double(number, length, value) ? value : nearest<double>(number, length);
}

float afar_json_float(const char *number, size_t length) { return nearest<float>(number, length); }
