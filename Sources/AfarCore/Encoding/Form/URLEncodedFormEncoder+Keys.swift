extension URLEncodedFormEncoder {
    /// How the key of an array's element is written.
    public enum ArrayEncoding: Sendable {
        /// `key[]`
        case brackets
        /// `key`
        case noBrackets
        /// `key[0]`, `key[1]` and so on.
        case indexInBrackets
        /// As a closure says.
        @preconcurrency case custom(@Sendable (_ key: String, _ index: Int) -> String)

        func encode(_ key: String, atIndex index: Int) -> String {
            switch self {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .custom(let encode): encode(key, index)
            }
        }
    }

    /// How a key is written.
    public enum KeyEncoding: Sendable {
        /// As it is.
        case useDefaultKeys
        /// In words joined by `_`: `oneTwoURL` becomes `one_two_url`.
        case convertToSnakeCase
        /// In words joined by `-`: `oneTwoURL` becomes `one-two-url`.
        case convertToKebabCase
        /// With the first letter in upper case: `oneTwo` becomes `OneTwo`.
        case capitalized
        /// In upper case.
        case uppercased
        /// In lower case.
        case lowercased
        /// As a closure says.
        @preconcurrency case custom(@Sendable (String) -> String)

        func encode(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: key.lowercasedWords(joinedBy: "_")
            case .convertToKebabCase: key.lowercasedWords(joinedBy: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let encode): encode(key)
            }
        }
    }

    /// How the key of a nested value is joined to the key of what it is nested in.
    public struct KeyPathEncoding: Sendable {
        /// As `object[key][subkey]`.
        public static let brackets = KeyPathEncoding { "[\($0)]" }
        /// As `object.key.subkey`.
        public static let dots = KeyPathEncoding { ".\($0)" }

        private let encoding: @Sendable (_ subkey: String) -> String

        /// Makes an encoding of a closure that gives what is put after the outer key for a nested key.
        @preconcurrency
        public init(encoding: @escaping @Sendable (_ subkey: String) -> String) {
            self.encoding = encoding
        }

        func encodeKeyPath(_ subkey: String) -> String {
            encoding(subkey)
        }
    }
}
