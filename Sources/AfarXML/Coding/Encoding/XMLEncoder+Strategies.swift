import AfarCore
public import Foundation

extension XMLEncoder {
    /// How keys become the names of elements and attributes.
    ///
    /// The keys of dictionaries are names as they are, unless a closure changes them.
    public enum KeyEncodingStrategy: Sendable {
        /// As they are.
        case useDefaultKeys
        /// In words joined by `_`: `feedURL` becomes `feed_url`.
        case convertToSnakeCase
        /// In words joined by `-`: `feedURL` becomes `feed-url`.
        case convertToKebabCase
        /// As a closure says for the path of keys that ends with the key asked about.
        @preconcurrency case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)

        func name(of key: any CodingKey, in codingPath: [any CodingKey]) -> String {
            let text = key.stringValue
            if text == Place.textKey { return text }
            return switch self {
            case .useDefaultKeys: text
            case .convertToSnakeCase: text.lowercasedWords(joinedBy: "_")
            case .convertToKebabCase: text.lowercasedWords(joinedBy: "-")
            case .custom(let convert): convert(codingPath + [key]).stringValue
            }
        }
    }

    /// How dates are written.
    public enum DateEncodingStrategy: Sendable {
        /// As `Date` encodes itself: the seconds since 2001.
        case deferredToDate
        /// As the seconds since 1970.
        case secondsSince1970
        /// As the milliseconds since 1970.
        case millisecondsSince1970
        /// As XML Schema's `dateTime` in UTC, `2024-05-06T07:08:09.5Z`, with up to nine digits after the second.
        case iso8601
        /// As a formatter writes them.
        case formatted(DateFormatter)
        /// As a closure writes them.
        @preconcurrency case custom(@Sendable (_ date: Date, _ encoder: any Encoder) throws -> Void)
    }

    /// How bytes are written.
    public enum DataEncodingStrategy: Sendable {
        /// As `Data` encodes itself: each byte is an element with a number.
        case deferredToData
        /// In base64.
        case base64
        /// In two hexadecimal digits a byte.
        case hexadecimal
        /// As a closure writes them.
        @preconcurrency case custom(@Sendable (_ data: Data, _ encoder: any Encoder) throws -> Void)
    }

    /// How nil is written. In an attribute it is never written.
    public enum NilEncodingStrategy: Sendable {
        /// Not at all.
        case omit
        /// As an element with `xsi:nil="true"`.
        case xsiNil
    }

    /// How a document is laid out.
    public struct OutputFormatting: OptionSet, Hashable, Sendable {
        /// Which options are in here, in bits.
        public let rawValue: Int

        /// Makes options of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Each element on a line of its own, indented by two spaces. An element that has text in it is left as it is, since
        /// its white space may mean something.
        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// Children, and attributes, sorted by their names. Those of one name keep their order, and an element that has
        /// text in it is left as it is.
        public static let sortedKeys = OutputFormatting(rawValue: 2)
        /// No `<?xml version="1.0" encoding="UTF-8"?>` before the document.
        public static let withoutDeclaration = OutputFormatting(rawValue: 4)
    }
}

extension String {
    /// The words of a camel-case name in lower case, joined by a separator. A run of capitals is one word, but a capital before a
    /// lowercase letter starts the next one: `myURLLoader` has the words my, url and loader.
    func lowercasedWords(joinedBy separator: String) -> String {
        let letters = Array(self)
        return letters.indices.reduce(into: "") { result, index in
            if index > 0, letters[index].isUppercase {
                let nextIsLowercase = index + 1 < letters.count && letters[index + 1].isLowercase
                if !letters[index - 1].isUppercase || nextIsLowercase { result += separator }
            }
            result += letters[index].lowercased()
        }
    }
}
