public import Foundation

extension CSVDataDecoder {
    /// How the names of columns become keys, also those of dictionaries.
    public enum KeyDecodingStrategy: Sendable {
        /// As they are.
        case useDefaultKeys
        /// From words joined by `_`: `first_name` is the key `firstName`. Underscores at the ends stay.
        case convertFromSnakeCase
        /// As a closure says for a name.
        @preconcurrency case custom(@Sendable (_ name: String) -> String)

        func key(of name: String) -> String {
            switch self {
            case .useDefaultKeys: name
            case .convertFromSnakeCase: Self.camelCased(name)
            case .custom(let convert): convert(name)
            }
        }

        private static func camelCased(_ name: String) -> String {
            let words = name.split(separator: "_")
            guard words.count > 1 else { return name }
            let ends = (name.prefix { $0 == "_" }, name.reversed().prefix { $0 == "_" })
            let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
            return ends.0 + words[0].lowercased() + rest.joined() + String(ends.1)
        }
    }

    /// Which fields are nil.
    public enum NilDecodingStrategy: Sendable, Hashable {
        /// Those with nothing in them.
        case emptyField
        /// Those with nothing in them and no quotation marks around them: `""` is an empty text.
        case emptyUnquotedField
        /// Those that are one of these texts, to the letter: `NULL`, `NA`, `-`.
        case anyOf(Set<String>)
    }

    /// How dates are written.
    public enum DateDecodingStrategy: Sendable {
        /// As ISO 8601 has it: `2024-05-06T07:08:09Z`, with or without a fraction of the second, or `2024-05-06` for the
        /// beginning of a day in UTC.
        case iso8601
        /// As the seconds since 1970.
        case secondsSince1970
        /// As the milliseconds since 1970.
        case millisecondsSince1970
        /// As a formatter reads them.
        case formatted(DateFormatter)
        /// As a closure reads a field's text.
        @preconcurrency case custom(@Sendable (_ text: String) throws -> Date)
    }
}
