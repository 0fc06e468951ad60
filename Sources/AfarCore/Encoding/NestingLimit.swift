public import Foundation

// MARK: - Errors

extension AFError {
    /// An error thrown if parameters are nested so deeply that encoding them could exhaust the stack. Servers don't accept
    /// parameters of that depth either.
    public struct ParameterNestingError: Error, Sendable {
        /// The maximum number of nested arrays and objects: 128. On a thread with a small stack, the limit can be lower for
        /// values that encode themselves.
        public static let limit = 128

        /// The name of the parameter that is nested too deeply, or nil if the parameters are an array.
        public let parameter: String?

        /// Creates the error.
        public init(parameter: String?) {
            self.parameter = parameter
        }
    }
}

extension AFError.ParameterNestingError: LocalizedError {
    /// A human-readable description of the error.
    public var errorDescription: String? {
        let subject = parameter.map { "The parameter \($0.debugDescription) is" } ?? "The parameters are"
        return
            "\(subject) nested more than \(Self.limit) levels deep, or too deep for the stack. Flatten the structure, or encode it yourself and send the text."
    }
}

extension AFError.ParameterNestingError {
    /// Throws an error if arrays and dictionaries are nested too deeply. Foundation's serializers don't check the depth.
    static func check(_ object: Any) throws {
        if let dictionary = object as? [String: Any] {
            for (key, value) in dictionary where !fits(value) { throw Self(parameter: key) }
        } else if !fits(object) {
            throw Self(parameter: nil)
        }
    }

    /// Returns whether a value's nesting is within the limit. The parameters themselves are one level. The check isn't
    /// recursive, so it can't exhaust the stack.
    static func fits(_ value: Any) -> Bool {
        var level = [value]
        for _ in 1..<limit where !level.isEmpty { level = level.flatMap { elements(of: $0) ?? [] } }
        return level.allSatisfy { elements(of: $0) == nil }
    }

    /// Returns the values of a collection, or nil for any other value.
    private static func elements(of value: Any) -> [Any]? {
        switch value {
        case let dictionary as [AnyHashable: Any]: Array(dictionary.values)
        case let array as [Any]: array
        default: nil
        }
    }
}

/// The shape of the encoded values of a type.
enum NestingKind {
    /// A single value, in whatever form an encoder writes it.
    case scalar
    /// An array or an object of scalars.
    case flat
    /// An object with string keys. Foundation's JSON encoder doesn't apply its key strategy to these keys.
    case dictionary
    /// Anything else.
    case other

    init(_ type: any Encodable.Type) {
        switch type {
        case is any NestingScalar.Type: self = .scalar
        case is any NestingFlat.Type: self = .flat
        case is any NestingDictionary.Type: self = .dictionary
        default: self = .other
        }
    }
}

/// A type that Foundation's encoders write without calling its `encode(to:)`. Numbers conform through ``FormNumber``.
protocol NestingScalar: Encodable {}

extension Bool: NestingScalar {}
extension String: NestingScalar {}
extension Data: NestingScalar {}
extension Date: NestingScalar {}
extension URL: NestingScalar {}
extension UUID: NestingScalar {}
extension Optional: NestingScalar where Wrapped: NestingScalar {}

/// A type that contains only scalars.
protocol NestingFlat: Encodable {}

extension Array: NestingFlat where Element: NestingScalar {}
extension Dictionary: NestingFlat where Key == String, Value: NestingScalar {}

/// A dictionary with string keys and values of any kind.
protocol NestingDictionary: Encodable {
    func limited(by limit: NestingLimit) -> any Encodable
}

extension Dictionary: NestingDictionary where Key == String, Value: Encodable {
    func limited(by limit: NestingLimit) -> any Encodable { mapValues { NestingLimited($0, limit) } }
}

// MARK: - Limit

/// Limits the depth of values that Foundation's encoders encode. The encoders recurse, so a value that is nested too deeply or
/// contains itself would overflow the stack.
///
/// Every value that can contain other values is passed to the encoder in a ``NestingLimited``. The containers of a
/// `NestingLimited` count the levels and forward everything to the encoder's containers. This way, a value's `encode(to:)` runs
/// only once. Values that encoders recognize by type, such as dates, are passed unchanged.
struct NestingLimit {
    /// The maximum number of nested values. This is higher than the limit of levels, because a value that encodes another value
    /// in its place uses the stack without adding a level.
    private static let maximumDepth = 2 * AFError.ParameterNestingError.limit

    /// The number of enclosing arrays and objects.
    private let levels: Int
    private let run: Run

    /// The state that all values inside one outermost value share.
    private final class Run {
        let userInfo: [CodingUserInfoKey: Any]
        var stack = StackSpace()
        var refusal: AFError.ParameterNestingError?
        /// The results of type casts, which are slow. A value contains few types.
        var kinds: [(type: ObjectIdentifier, kind: NestingKind)] = []

        init(userInfo: [CodingUserInfoKey: Any]) {
            self.userInfo = userInfo
        }
    }

    private init(levels: Int, run: Run) {
        self.levels = levels
        self.run = run
    }

    var userInfo: [CodingUserInfoKey: Any] { run.userInfo }

    // MARK: Outermost value

    /// Encodes a value.
    static func encode<Value: Encodable>(
        _ value: Value, userInfo: [CodingUserInfoKey: Any], with encode: (any Encodable) throws -> Data
    ) throws -> Data {
        let limit = NestingLimit(levels: 0, run: Run(userInfo: userInfo))
        let passed = try limit.passed(value, at: [])
        let outcome = Result { try encode(passed) }
        if let refusal = limit.run.refusal { throw refusal }
        do {
            return try outcome.get()
        } catch EncodingError.invalidValue(let culprit, let context) where type(of: culprit) == type(of: passed) {
            // The encoder's error names the wrapper instead of the value's type.
            let text = context.debugDescription.replacing("\(type(of: passed))", with: "\(Value.self)")
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: context.codingPath, debugDescription: text, underlyingError: context.underlyingError))
        }
    }

    // MARK: Nested values

    /// Returns a value in the form in which it is passed to the encoder.
    func passed(_ value: some Encodable, at codingPath: @autoclosure () -> [any CodingKey]) throws -> any Encodable {
        try known(value, at: codingPath()) ?? NestingLimited(value, self)
    }

    /// Returns a value in the form in which it is passed to the encoder, or nil for a value that encodes itself.
    func known<Value: Encodable>(
        _ value: Value, at codingPath: @autoclosure () -> [any CodingKey]
    ) throws -> (any Encodable)? {
        switch kind(of: Value.self) {
        case .scalar: return value
        case .flat where levels < AFError.ParameterNestingError.limit: return value
        case .dictionary:
            let inside = inContainer(at: codingPath())
            if let refusal = run.refusal { throw refusal }
            return (value as? any NestingDictionary)?.limited(by: inside)
        case .flat, .other: return nil
        }
    }

    private func kind(of type: any Encodable.Type) -> NestingKind {
        let id = ObjectIdentifier(type)
        if let known = run.kinds.first(where: { $0.type == id }) { return known.kind }
        let kind = NestingKind(type)
        run.kinds.append((id, kind))
        return kind
    }

    // MARK: Depth

    /// Counts a value that is about to be encoded. ``leave()`` ends the count.
    ///
    /// - Throws: An ``AFError/ParameterNestingError`` if this or an earlier value is nested too deeply.
    func enter(at codingPath: @autoclosure () -> [any CodingKey]) throws {
        if !run.stack.enter() || run.stack.depth > Self.maximumDepth { refuse(at: codingPath()) }
        if let refusal = run.refusal {
            run.stack.leave()
            throw refusal
        }
    }

    func leave() { run.stack.leave() }

    /// Returns the limit for the contents of an array or an object. If the contents are nested too deeply, records the error.
    /// Creating a container can't throw the error, so the next write throws it.
    func inContainer(at codingPath: @autoclosure () -> [any CodingKey]) -> NestingLimit {
        if levels >= AFError.ParameterNestingError.limit { refuse(at: codingPath()) }
        return NestingLimit(levels: levels + 1, run: run)
    }

    /// Whether all values so far were within the limit.
    var isOpen: Bool { run.refusal == nil }

    private func refuse(at codingPath: [any CodingKey]) {
        if run.refusal == nil {
            run.refusal = AFError.ParameterNestingError(parameter: codingPath.first?.stringValue)
        }
    }
}

struct NestingLimited: Encodable {
    private let value: any Encodable
    private let limit: NestingLimit

    init(_ value: any Encodable, _ limit: NestingLimit) {
        self.value = value
        self.limit = limit
    }

    func encode(to encoder: any Encoder) throws {
        try limit.enter(at: encoder.codingPath)
        defer { limit.leave() }
        if let known = try limit.known(value, at: encoder.codingPath) {
            var container = encoder.singleValueContainer()
            try container.encode(known)
        } else {
            try value.encode(to: NestingLimitEncoder(base: encoder, limit: limit))
        }
    }
}

/// An encoder whose containers apply a limit. Without a base encoder, they write nothing.
struct NestingLimitEncoder: Encoder {
    let base: (any Encoder)?
    let limit: NestingLimit

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }
    var userInfo: [CodingUserInfoKey: Any] { limit.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(
            NestingLimitKeyedContainer(limit.inContainer(at: codingPath)) { base?.container(keyedBy: type) })
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        NestingLimitUnkeyedContainer(limit.inContainer(at: codingPath)) { base?.unkeyedContainer() }
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        NestingLimitSingleValueContainer(base: base?.singleValueContainer(), limit: limit)
    }
}

// Primitive types need their own methods, because the generic method makes each value encode itself.

struct NestingLimitKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    /// Nil beyond the limit.
    private var base: KeyedEncodingContainer<Key>?
    private let limit: NestingLimit

    init(_ limit: NestingLimit, _ base: () -> KeyedEncodingContainer<Key>?) {
        self.base = limit.isOpen ? base() : nil
        self.limit = limit
    }

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }

    mutating func encodeNil(forKey key: Key) throws { try base?.encodeNil(forKey: key) }
    mutating func encode(_ value: Bool, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: String, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: Int128, forKey key: Key) throws { try base?.encode(value, forKey: key) }
    mutating func encode(_ value: UInt128, forKey key: Key) throws { try base?.encode(value, forKey: key) }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let passed = try limit.passed(value, at: codingPath + [key])
        try base?.encode(passed, forKey: key)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        let inside = limit.inContainer(at: codingPath + [key])
        return KeyedEncodingContainer(
            NestingLimitKeyedContainer<NestedKey>(inside) { base?.nestedContainer(keyedBy: keyType, forKey: key) })
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let inside = limit.inContainer(at: codingPath + [key])
        return NestingLimitUnkeyedContainer(inside) { base?.nestedUnkeyedContainer(forKey: key) }
    }

    mutating func superEncoder() -> any Encoder { NestingLimitEncoder(base: base?.superEncoder(), limit: limit) }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        NestingLimitEncoder(base: base?.superEncoder(forKey: key), limit: limit)
    }
}

struct NestingLimitUnkeyedContainer: UnkeyedEncodingContainer {
    /// Nil beyond the limit.
    private var base: (any UnkeyedEncodingContainer)?
    private let limit: NestingLimit

    init(_ limit: NestingLimit, _ base: () -> (any UnkeyedEncodingContainer)?) {
        self.base = limit.isOpen ? base() : nil
        self.limit = limit
    }

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }
    var count: Int { base?.count ?? 0 }

    mutating func encodeNil() throws { try base?.encodeNil() }
    mutating func encode(_ value: Bool) throws { try base?.encode(value) }
    mutating func encode(_ value: String) throws { try base?.encode(value) }
    mutating func encode(_ value: Double) throws { try base?.encode(value) }
    mutating func encode(_ value: Float) throws { try base?.encode(value) }
    mutating func encode(_ value: Int) throws { try base?.encode(value) }
    mutating func encode(_ value: Int8) throws { try base?.encode(value) }
    mutating func encode(_ value: Int16) throws { try base?.encode(value) }
    mutating func encode(_ value: Int32) throws { try base?.encode(value) }
    mutating func encode(_ value: Int64) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt8) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt16) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt32) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt64) throws { try base?.encode(value) }
    mutating func encode(_ value: Int128) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt128) throws { try base?.encode(value) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        let passed = try limit.passed(value, at: codingPath)
        try base?.encode(passed)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        let inside = limit.inContainer(at: codingPath)
        return KeyedEncodingContainer(
            NestingLimitKeyedContainer<NestedKey>(inside) { base?.nestedContainer(keyedBy: keyType) })
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        NestingLimitUnkeyedContainer(limit.inContainer(at: codingPath)) { base?.nestedUnkeyedContainer() }
    }

    mutating func superEncoder() -> any Encoder { NestingLimitEncoder(base: base?.superEncoder(), limit: limit) }
}

struct NestingLimitSingleValueContainer: SingleValueEncodingContainer {
    /// Nil beyond the limit.
    var base: (any SingleValueEncodingContainer)?
    let limit: NestingLimit

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }

    mutating func encodeNil() throws { try base?.encodeNil() }
    mutating func encode(_ value: Bool) throws { try base?.encode(value) }
    mutating func encode(_ value: String) throws { try base?.encode(value) }
    mutating func encode(_ value: Double) throws { try base?.encode(value) }
    mutating func encode(_ value: Float) throws { try base?.encode(value) }
    mutating func encode(_ value: Int) throws { try base?.encode(value) }
    mutating func encode(_ value: Int8) throws { try base?.encode(value) }
    mutating func encode(_ value: Int16) throws { try base?.encode(value) }
    mutating func encode(_ value: Int32) throws { try base?.encode(value) }
    mutating func encode(_ value: Int64) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt8) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt16) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt32) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt64) throws { try base?.encode(value) }
    mutating func encode(_ value: Int128) throws { try base?.encode(value) }
    mutating func encode(_ value: UInt128) throws { try base?.encode(value) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        let passed = try limit.passed(value, at: codingPath)
        try base?.encode(passed)
    }
}
