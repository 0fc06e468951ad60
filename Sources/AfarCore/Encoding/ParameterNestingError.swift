public import Foundation

extension AFError {
    /// The earlier name of ``ParameterNestingError``.
    @available(*, deprecated, renamed: "ParameterNestingError")
    public typealias ParametersNestedTooDeep = ParameterNestingError

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
