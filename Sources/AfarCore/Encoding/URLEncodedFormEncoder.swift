public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An encoder that writes an `Encodable` value as a query: percent-encoded `key=value` pairs.
///
/// The value must be an object: a struct, a class or a dictionary. No standard defines how nested values are written, so each
/// decision is an option. Empty collections are omitted. Nil is omitted too, unless `nilEncoding` specifies otherwise. Elements
/// of an array keep their order. Fields that a superclass writes with `superEncoder()` are written next to the subclass's fields.
public final class URLEncodedFormEncoder: Sendable {
    /// An error that describes why a value can't be written.
    public enum Error: Swift.Error {
        /// The value isn't an object. The text describes what it is, such as an array.
        case invalidRootObject(String)
    }

    /// Whether the pairs of each object are sorted. Otherwise the pairs are in the order in which the value encodes them.
    public let alphabetizeKeyValuePairs: Bool
    /// How the key of an array's element is written.
    public let arrayEncoding: ArrayEncoding
    /// How a Boolean is written.
    public let boolEncoding: BoolEncoding
    /// How `Data` is written.
    public let dataEncoding: DataEncoding
    /// How a `Date` is written.
    public let dateEncoding: DateEncoding
    /// How a key is written.
    public let keyEncoding: KeyEncoding
    /// How the key of a nested value is joined to the outer key.
    public let keyPathEncoding: KeyPathEncoding
    /// How nil is written.
    public let nilEncoding: NilEncoding
    /// How a space is written.
    public let spaceEncoding: SpaceEncoding
    /// The characters that are not escaped. You can change the set at any time and from any thread. A value that is being encoded
    /// uses either the old or the new set.
    public var allowedCharacters: CharacterSet {
        get { unescapedCharacters.withLock { $0 } }
        set { unescapedCharacters.withLock { $0 = newValue } }
    }
    private let unescapedCharacters: Locked<CharacterSet>
    /// The `userInfo` of the encoder that is passed to the values.
    public let userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates an encoder.
    public init(
        alphabetizeKeyValuePairs: Bool = true,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dataEncoding: DataEncoding = .base64,
        dateEncoding: DateEncoding = .deferredToDate,
        keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets,
        nilEncoding: NilEncoding = .dropKey,
        spaceEncoding: SpaceEncoding = .percentEscaped,
        allowedCharacters: CharacterSet = .afURLQueryAllowed,
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dataEncoding = dataEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.keyPathEncoding = keyPathEncoding
        self.nilEncoding = nilEncoding
        self.spaceEncoding = spaceEncoding
        unescapedCharacters = Locked(allowedCharacters)
        self.userInfo = userInfo
    }

    /// Returns the value as text.
    ///
    /// - Throws: `Error.invalidRootObject` if the value is not an object; `AFError.ParameterNestingError`; any error thrown by
    ///   the value or an option's closure.
    public func encode(_ value: any Encodable) throws -> String {
        let root = FormNode()
        try FormEncoding(root: root, options: self).write(value)
        return try FormSerializer(options: self).text(of: root)
    }

    /// Returns the value as UTF-8 data. Throws the same errors as the method that returns text.
    public func encode(_ value: any Encodable) throws -> Data {
        let text: String = try encode(value)
        return Data(text.utf8)
    }
}

extension URLEncodedFormEncoder.Error: LocalizedError {
    /// A human-readable description of the error.
    public var errorDescription: String? {
        switch self {
        case .invalidRootObject(let found):
            "Only an object with keys can be encoded as a query, but this is \(found). Put it in a dictionary or a struct."
        }
    }
}

extension URLEncodedFormEncoder {
    /// How the key of an array's element is written.
    public enum ArrayEncoding: Sendable {
        /// `key[]`
        case brackets
        /// `key`
        case noBrackets
        /// `key[0]`, `key[1]` and so on.
        case indexInBrackets
        /// The text that the closure returns.
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
        /// Unchanged.
        case useDefaultKeys
        /// Lowercased words joined by `_`: `oneTwoURL` becomes `one_two_url`.
        case convertToSnakeCase
        /// Lowercased words joined by `-`: `oneTwoURL` becomes `one-two-url`.
        case convertToKebabCase
        /// With the first letter in uppercase: `oneTwo` becomes `OneTwo`.
        case capitalized
        /// In uppercase.
        case uppercased
        /// In lowercase.
        case lowercased
        /// The text that the closure returns.
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

    /// How the key of a nested value is joined to the outer key.
    public struct KeyPathEncoding: Sendable {
        /// As `object[key][subkey]`.
        public static let brackets = KeyPathEncoding { "[\($0)]" }
        /// As `object.key.subkey`.
        public static let dots = KeyPathEncoding { ".\($0)" }

        private let encoding: @Sendable (_ subkey: String) -> String

        /// Creates an encoding from a closure that converts a nested key to the text to append to the outer key.
        @preconcurrency
        public init(encoding: @escaping @Sendable (_ subkey: String) -> String) {
            self.encoding = encoding
        }

        func encodeKeyPath(_ subkey: String) -> String {
            encoding(subkey)
        }
    }
}

extension URLEncodedFormEncoder {
    /// How a Boolean is written.
    public enum BoolEncoding: Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal

        func encode(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// How `Data` is written.
    public enum DataEncoding: Sendable {
        /// As `Data` encodes itself: an array of numbers.
        case deferredToData
        /// In Base64.
        case base64
        /// The text that the closure returns.
        @preconcurrency case custom(@Sendable (Data) throws -> String)

        /// Returns the text, or nil if the data must encode itself.
        func encode(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .custom(let encode): try encode(data)
            }
        }
    }

    /// How a `Date` is written.
    public enum DateEncoding: Sendable {
        /// As `Date` encodes itself: the seconds since 2001.
        case deferredToDate
        /// The seconds since 1970.
        case secondsSince1970
        /// The milliseconds since 1970.
        case millisecondsSince1970
        /// In ISO 8601 and RFC 3339 format: `2026-01-31T12:00:00Z`.
        case iso8601
        /// As a formatter formats it.
        case formatted(DateFormatter)
        /// The text that the closure returns.
        @preconcurrency case custom(@Sendable (Date) throws -> String)

        /// Returns the text, or nil if the date must encode itself.
        func encode(_ date: Date) throws -> String? {
            switch self {
            case .deferredToDate: nil
            case .secondsSince1970: "\(date.timeIntervalSince1970)"
            case .millisecondsSince1970: "\(date.timeIntervalSince1970 * 1000)"
            case .iso8601: ISO8601DateFormatter().string(from: date)
            case .formatted(let formatter): formatter.string(from: date)
            case .custom(let encode): try encode(date)
            }
        }
    }

    /// How nil is written.
    public struct NilEncoding: Sendable {
        /// The key is omitted.
        public static let dropKey = NilEncoding { nil }
        /// An empty value: `key=`.
        public static let dropValue = NilEncoding { "" }
        /// The text `null`.
        public static let null = NilEncoding { "null" }

        private let encoding: @Sendable () -> String?

        /// Creates an encoding from a closure that returns the text, or nil to omit the key.
        @preconcurrency
        public init(encoding: @escaping @Sendable () -> String?) {
            self.encoding = encoding
        }

        func encodeNil() -> String? {
            encoding()
        }
    }

    /// How a space is written.
    public enum SpaceEncoding: Sendable {
        /// As `%20`.
        case percentEscaped
        /// As `+`.
        case plusReplaced

        var text: String {
            switch self {
            case .percentEscaped: "%20"
            case .plusReplaced: "+"
            }
        }
    }
}

extension String {
    /// Returns the lowercased words of a camel-case name, joined by a separator. A run of capitals is one word, but a capital
    /// before a lowercase letter starts the next word: `myURLLoader` has the words my, url, loader.
    package func lowercasedWords(joinedBy separator: String) -> String {
        let letters = Array(self)
        var result = ""
        for (index, letter) in letters.enumerated() {
            if index > 0, letter.isUppercase {
                let nextIsLowercase = index + 1 < letters.count && letters[index + 1].isLowercase
                if !letters[index - 1].isUppercase || nextIsLowercase { result += separator }
            }
            result += letter.lowercased()
        }
        return result
    }
}

/// An encoder that writes an `Encodable` value as a query: `key=value` pairs in the URL or in a form body.
///
/// The URL's existing query is unchanged. Added pairs are percent-encoded exactly once.
// @unchecked because the class is open. Its properties are immutable and Sendable.
open class URLEncodedFormParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// Where the parameters are written.
    public enum Destination: Sendable {
        /// The URL for GET, HEAD and DELETE; otherwise the body.
        case methodDependent
        /// The URL.
        case queryString
        /// The body.
        case httpBody

        func encodesParametersInURL(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: method.prefersParametersInURL
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// An encoder with default settings and the destination `methodDependent`.
    public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// The encoder that writes the pairs.
    public let encoder: URLEncodedFormEncoder

    /// Where the parameters are written.
    public let destination: Destination

    /// Creates an encoder.
    public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
        self.encoder = encoder
        self.destination = destination
    }

    /// Returns the request with the parameters in its query or body. If the parameters are in the body, sets a content type
    /// unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` if the value can't be encoded or the request has no URL or method.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        guard let url = request.url else { throw failure(.missingRequiredComponent(.url)) }
        guard let method = request.method else {
            throw failure(.missingRequiredComponent(.httpMethod(rawValue: request.httpMethod ?? "")))
        }
        var request = request
        do {
            let query: String = try encoder.encode(parameters)
            if destination.encodesParametersInURL(for: method) {
                request.url = try url.appendingQuery(query)
            } else {
                request.setBody(Data(query.utf8), contentType: "application/x-www-form-urlencoded; charset=utf-8")
            }
        } catch {
            throw failure(.encoderFailed(error: error))
        }
        return request
    }

    private func failure(_ reason: AFError.ParameterEncoderFailureReason) -> AFError {
        .parameterEncoderFailed(reason: reason)
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// An encoder of queries with default settings and the destination `methodDependent`.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// Returns an encoder of queries. The default destination is `methodDependent`.
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}
