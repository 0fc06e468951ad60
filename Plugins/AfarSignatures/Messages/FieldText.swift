#if StructuredFields
    import Foundation
    import RawStructuredFieldValues

    /// Reads and writes structured fields (RFC 9651) with bounded work.
    enum FieldText {
        /// The maximum size of a field in bytes. The parser searches keys linearly, so its time grows with the square of their number.
        static let longest = 16 * 1024

        /// A field that isn't well-formed.
        struct Malformed: Error, CustomStringConvertible {
            let description: String
        }

        static func text(of item: Item) throws -> String {
            var serializer = StructuredFieldValueSerializer()
            return String(decoding: try serializer.writeItemFieldValue(item), as: UTF8.self)
        }

        static func text(of member: ItemOrInnerList) throws -> String {
            var serializer = StructuredFieldValueSerializer()
            return String(decoding: try serializer.writeListFieldValue([member]), as: UTF8.self)
        }

        /// Parses a dictionary. Duplicate keys are an error, although RFC 9651 uses the last one.
        static func dictionary(_ value: String) throws -> OrderedMap<String, ItemOrInnerList> {
            let bytes = try checked(value)
            var parser = StructuredFieldValueParser(bytes)
            let map = try parser.parseDictionaryFieldValue()
            guard map.isEmpty || map.count == memberCount(bytes) else {
                throw Malformed(description: "a key occurs more than once")
            }
            return map
        }

        /// Returns the strict serialization of a field (RFC 9421, section 2.1.1).
        ///
        /// - Parameter isDictionary: Whether the field is a dictionary. Otherwise it can be of any type.
        static func normalized(_ value: String, isDictionary: Bool) throws -> String {
            let bytes = try checked(value)
            var serializer = StructuredFieldValueSerializer()
            if !isDictionary {
                var parser = StructuredFieldValueParser(bytes)
                if let list = try? parser.parseListFieldValue() {
                    return String(decoding: try serializer.writeListFieldValue(list), as: UTF8.self)
                }
            }
            var parser = StructuredFieldValueParser(bytes)
            let map = try parser.parseDictionaryFieldValue()
            return String(decoding: try serializer.writeDictionaryFieldValue(map), as: UTF8.self)
        }

        private static func checked(_ value: String) throws -> [UInt8] {
            guard value.utf8.count <= longest else { throw Malformed(description: "it has more than \(longest) bytes") }
            let bytes = Array(value.utf8)
            let separators = bytes.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
            guard separators < 1_024 else {
                throw Malformed(description: "it has more than 1,024 members and parameters")
            }
            return bytes
        }

        /// Counts the members of a well-formed dictionary, which are separated by commas outside of strings.
        private static func memberCount(_ bytes: [UInt8]) -> Int {
            var (count, isInString, isEscaped, hasEscapes) = (1, false, false, true)
            var previous: UInt8 = 0
            for byte in bytes {
                defer { previous = byte }
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\"") {
                    isInString.toggle()
                    // A display string begins with a percent sign, and a backslash in it has no meaning.
                    hasEscapes = previous != UInt8(ascii: "%")
                } else if isInString {
                    isEscaped = hasEscapes && byte == UInt8(ascii: "\\")
                } else if byte == UInt8(ascii: ",") {
                    count += 1
                }
            }
            return count
        }
    }
#endif
