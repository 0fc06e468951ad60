public import Foundation

extension AFError {
    /// Parameters are nested so deep that writing them could exhaust the stack. No server reads such depths either.
    public struct ParametersNestedTooDeep: Error, Sendable {
        /// How many arrays and objects may be nested in each other: 256.
        public static let limit = 256

        /// The name of the parameter that is nested too deep; nil where the parameters are an array.
        public let parameter: String?

        /// Makes the error.
        public init(parameter: String?) {
            self.parameter = parameter
        }
    }
}

extension AFError.ParametersNestedTooDeep: LocalizedError {
    /// What was wrong, for a person.
    public var errorDescription: String? {
        let subject = parameter.map { "The parameter \($0.debugDescription) is" } ?? "The parameters are"
        return "\(subject) nested more than \(Self.limit) levels deep. Send them flatter, or as text that you encode."
    }
}

extension AFError.ParametersNestedTooDeep {
    /// Refuses arrays and dictionaries that are nested too deep, as Foundation's own serializers do not.
    static func check(_ object: Any) throws {
        if let dictionary = object as? [String: Any] {
            for (key, value) in dictionary where !fits(value) { throw Self(parameter: key) }
        } else if !fits(object) {
            throw Self(parameter: nil)
        }
    }

    /// Whether a value fits into parameters, which are one level themselves.
    static func fits(_ value: Any, levels: Int = limit - 1) -> Bool {
        switch value {
        case let dictionary as [AnyHashable: Any]:
            levels > 0 && dictionary.values.allSatisfy { fits($0, levels: levels - 1) }
        case let array as [Any]: levels > 0 && array.allSatisfy { fits($0, levels: levels - 1) }
        default: true
        }
    }
}
