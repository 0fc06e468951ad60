public import Foundation

extension AFError {
    /// An error thrown if parameters are nested so deep that encoding them could exhaust the stack. Servers don't accept such
    /// depths either.
    public struct ParameterNestingError: Error, Sendable {
        /// The maximum number of nested arrays and objects: 128. For values that encode themselves, the thread's stack can allow
        /// fewer.
        public static let limit = 128

        /// The name of the parameter that is nested too deep; nil if the parameters are an array.
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
            "\(subject) nested more than \(Self.limit) levels deep, or deeper than the stack has room for. Send them flatter, or as text that you encode."
    }
}

extension AFError.ParameterNestingError {
    /// Throws an error if arrays and dictionaries are nested too deep, which Foundation's serializers don't check.
    static func check(_ object: Any) throws {
        if let dictionary = object as? [String: Any] {
            for (key, value) in dictionary where !fits(value) { throw Self(parameter: key) }
        } else if !fits(object) {
            throw Self(parameter: nil)
        }
    }

    /// Returns whether a value's nesting is within the limit. The parameters themselves are one level. The check goes level by
    /// level, so it doesn't use the stack.
    static func fits(_ value: Any) -> Bool {
        var level = [value]
        for _ in 1..<limit where !level.isEmpty { level = level.flatMap { elements(of: $0) ?? [] } }
        return level.allSatisfy { elements(of: $0) == nil }
    }

    /// Returns the values of a collection; nil for any other value.
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
    /// A single value, however an encoder writes it.
    case scalar
    /// An array or an object of scalars.
    case flat
    /// An object with string keys. Foundation's JSON encoder doesn't apply its key strategy to them.
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

/// A type that Foundation's encoders write without calling its `encode(to:)`.
protocol NestingScalar: Encodable {}

extension Bool: NestingScalar {}
extension String: NestingScalar {}
extension Double: NestingScalar {}
extension Float: NestingScalar {}
extension Int: NestingScalar {}
extension Int8: NestingScalar {}
extension Int16: NestingScalar {}
extension Int32: NestingScalar {}
extension Int64: NestingScalar {}
extension UInt: NestingScalar {}
extension UInt8: NestingScalar {}
extension UInt16: NestingScalar {}
extension UInt32: NestingScalar {}
extension UInt64: NestingScalar {}
extension Int128: NestingScalar {}
extension UInt128: NestingScalar {}
extension Data: NestingScalar {}
extension Date: NestingScalar {}
extension Decimal: NestingScalar {}
extension URL: NestingScalar {}
extension UUID: NestingScalar {}
extension Optional: NestingScalar where Wrapped: NestingScalar {}

/// A type that contains only scalars.
protocol NestingFlat: Encodable {}

extension Array: NestingFlat where Element: NestingScalar {}
extension Dictionary: NestingFlat where Key == String, Value: NestingScalar {}

/// A dictionary with string keys and values of any kind.
protocol NestingDictionary: Encodable {
    /// Returns the dictionary with a limit applied to each value.
    func limited(by limit: NestingLimit) -> any Encodable
}

extension Dictionary: NestingDictionary where Key == String, Value: Encodable {
    func limited(by limit: NestingLimit) -> any Encodable { mapValues { NestingLimited($0, limit) } }
}
