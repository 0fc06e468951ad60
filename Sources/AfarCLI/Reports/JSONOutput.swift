import Foundation

/// A JSON value to print. Members keep their order.
indirect enum JSONOutput: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONOutput])
    case object([(String, JSONOutput)])

    /// Creates a string, or null.
    static func text(_ text: String?) -> JSONOutput { text.map { .string($0) } ?? .null }

    /// Creates a time in milliseconds from seconds, or null.
    static func milliseconds(_ seconds: Double?) -> JSONOutput {
        seconds.map { .number(($0 * 1_000_000).rounded() / 1000) } ?? .null
    }

    /// The value on one line (RFC 8259).
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): value.isFinite ? "\(value)" : "null"
        case .string(let value): JSONText.string(value)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(JSONText.string($0.0)):\($0.1.text)" }.joined(separator: ",") + "}"
        }
    }
}
