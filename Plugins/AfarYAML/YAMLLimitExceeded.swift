public import Foundation

/// A YAML document is beyond one of its ``YAMLLimits``. Nothing was made of it.
public struct YAMLLimitExceeded: Error, Hashable, Sendable {
    /// The limits.
    public enum Limit: String, Sendable {
        /// ``YAMLLimits/maximumSize``.
        case size
        /// ``YAMLLimits/maximumDepth``.
        case depth
        /// ``YAMLLimits/maximumNodes``.
        case nodes
        /// ``YAMLLimits/maximumScalarLength``.
        case scalarLength
        /// ``YAMLLimits/maximumMappingCount``.
        case mappingCount
    }

    /// Which limit.
    public let limit: Limit
    /// What would have been allowed.
    public let maximum: Int
    /// The line where it was too much; the first is 1. Nil when the bytes were counted before any was read.
    public let line: Int?

    /// Makes an error.
    public init(limit: Limit, maximum: Int, line: Int?) {
        self.limit = limit
        self.maximum = maximum
        self.line = line
    }
}

extension YAMLLimitExceeded: LocalizedError, CustomStringConvertible {
    /// What was too much, where, and what can be done.
    public var description: String {
        let excess =
            switch limit {
            case .size: "has more than \(maximum) bytes, counting what its aliases stand for"
            case .depth: "is nested more than \(maximum) levels deep"
            case .nodes: "has more than \(maximum) nodes, counting what its aliases stand for"
            case .scalarLength: "has a scalar of more than \(maximum) bytes"
            case .mappingCount: "has a mapping of more than \(maximum) keys"
            }
        let place = line.map { " (line \($0))" } ?? ""
        return "The YAML document \(excess)\(place). Decode it with larger limits if its sender can be trusted."
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
