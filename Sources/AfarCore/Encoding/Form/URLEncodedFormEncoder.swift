public import Foundation

/// Writes an `Encodable` value as a query: `key=value` pairs, percent-encoded.
///
/// The value must be an object: a struct, a class, a dictionary. There is no standard for what is nested in it, so each
/// decision is an option. A value that is nil or an empty collection leaves no trace unless `nilEncoding` says so.
/// Elements of an array keep their order. What a superclass writes by `superEncoder()` stands beside the fields of the
/// subclass.
public final class URLEncodedFormEncoder: Sendable {
    /// What is wrong with a value that cannot be written.
    public enum Error: Swift.Error {
        /// The value is not an object; the text names what it is instead.
        case invalidRootObject(String)
    }

    /// Whether the pairs of each object are sorted. Without, they stand in the order in which the value encodes them.
    public let alphabetizeKeyValuePairs: Bool
    /// How the key of an array's element is written.
    public let arrayEncoding: ArrayEncoding
    /// How a boolean is written.
    public let boolEncoding: BoolEncoding
    /// How `Data` is written.
    public let dataEncoding: DataEncoding
    /// How a `Date` is written.
    public let dateEncoding: DateEncoding
    /// How a key is written.
    public let keyEncoding: KeyEncoding
    /// How the key of a nested value is joined to the key of what it is nested in.
    public let keyPathEncoding: KeyPathEncoding
    /// How nil is written.
    public let nilEncoding: NilEncoding
    /// How a space is written.
    public let spaceEncoding: SpaceEncoding
    /// The characters that are not escaped. It may be changed at any time and from any thread; a value that is being
    /// encoded meanwhile is written by one of both.
    public var allowedCharacters: CharacterSet {
        get { unescapedCharacters.withLock { $0 } }
        set { unescapedCharacters.withLock { $0 = newValue } }
    }
    private let unescapedCharacters: Locked<CharacterSet>
    /// What the values that are encoded find in their encoder's `userInfo`.
    public let userInfo: [CodingUserInfoKey: any Sendable]

    /// Makes an encoder.
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

    /// The value as text.
    ///
    /// - Throws: `Error.invalidRootObject` if the value is not an object; `AFError.ParameterNestingError`; what the
    ///   value or an option's closure throws.
    public func encode(_ value: any Encodable) throws -> String {
        let root = FormNode()
        try FormEncoding(root: root, options: self).write(value)
        return try FormSerializer(options: self).text(of: root)
    }

    /// The value as data in UTF-8.
    ///
    /// - Throws: `Error.invalidRootObject` if the value is not an object; `AFError.ParameterNestingError`; what the
    ///   value or an option's closure throws.
    public func encode(_ value: any Encodable) throws -> Data {
        let text: String = try encode(value)
        return Data(text.utf8)
    }
}

extension URLEncodedFormEncoder.Error: LocalizedError {
    /// What was wrong, for a person.
    public var errorDescription: String? {
        switch self {
        case .invalidRootObject(let found):
            "Only an object with keys can be a query, and this is \(found). Put it into a dictionary or a struct."
        }
    }
}
