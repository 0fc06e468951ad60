public import Foundation

extension AFError {
    /// Parameters are nested so deep that writing them could exhaust the stack. No server reads such depths either.
    public struct ParameterNestingError: Error, Sendable {
        /// How many arrays and objects may be nested in each other: 128. Values that encode themselves may have to do with
        /// fewer where the thread's stack has no room for more.
        public static let limit = 128

        /// The name of the parameter that is nested too deep; nil where the parameters are an array.
        public let parameter: String?

        /// Makes the error.
        public init(parameter: String?) {
            self.parameter = parameter
        }
    }
}

extension AFError.ParameterNestingError: LocalizedError {
    /// What was wrong, for a person.
    public var errorDescription: String? {
        let subject = parameter.map { "The parameter \($0.debugDescription) is" } ?? "The parameters are"
        return
            "\(subject) nested more than \(Self.limit) levels deep, or deeper than the stack has room for. Send them flatter, or as text that you encode."
    }
}

extension AFError.ParameterNestingError {
    /// Refuses arrays and dictionaries that are nested too deep, as Foundation's own serializers do not.
    static func check(_ object: Any) throws {
        if let dictionary = object as? [String: Any] {
            for (key, value) in dictionary where !fits(value) { throw Self(parameter: key) }
        } else if !fits(object) {
            throw Self(parameter: nil)
        }
    }

    /// Whether a value fits into parameters, which are one level themselves. Level by level, it takes no stack itself.
    static func fits(_ value: Any) -> Bool {
        var level = [value]
        for _ in 1..<limit where !level.isEmpty { level = level.flatMap { elements(of: $0) ?? [] } }
        return level.allSatisfy { elements(of: $0) == nil }
    }

    /// The values in a collection; nil for what is no collection.
    private static func elements(of value: Any) -> [Any]? {
        switch value {
        case let dictionary as [AnyHashable: Any]: Array(dictionary.values)
        case let array as [Any]: array
        default: nil
        }
    }
}

/// What encoding a value of a type can come to.
enum NestingKind {
    /// One value, whatever an encoder makes of it.
    case scalar
    /// An array or an object of scalars.
    case flat
    /// An object by names. Foundation's JSON encoder leaves such names as they are, whatever its strategy for keys.
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

/// What Foundation's encoders write without asking others to encode themselves.
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

/// What holds nothing but scalars.
protocol NestingFlat: Encodable {}

extension Array: NestingFlat where Element: NestingScalar {}
extension Dictionary: NestingFlat where Key == String, Value: NestingScalar {}

/// An object by names with values of any kind.
protocol NestingDictionary: Encodable {
    /// The same with a limit in each value.
    func limited(by limit: NestingLimit) -> any Encodable
}

extension Dictionary: NestingDictionary where Key == String, Value: Encodable {
    func limited(by limit: NestingLimit) -> any Encodable { mapValues { NestingLimited($0, limit) } }
}
