import Foundation

extension CSVParameterEncoder {
    /// The text of what a field can be; nil for a value of another type, which has to encode itself.
    ///
    /// - Parameter error: Makes the error of what cannot be written.
    func text<T: Encodable>(
        of value: T, _ error: (CSVEncodingError.Reason) -> CSVEncodingError
    ) throws -> String? {
        switch value {
        case let value as String: return value
        case let value as Bool: return value ? "true" : "false"
        case let value as any FixedWidthInteger: return "\(value)"
        case let value as Double: return try number(value, value.isFinite, error)
        case let value as Float: return try number(value, value.isFinite, error)
        case let value as Decimal: return try number(value, value.isFinite, error)
        case let value as Date: return try date(value, error)
        case let value as Data: return value.base64EncodedString()
        case let value as URL: return value.absoluteString
        default: return nil
        }
    }

    private func number(
        _ value: some CustomStringConvertible, _ isFinite: Bool,
        _ error: (CSVEncodingError.Reason) -> CSVEncodingError
    ) throws -> String {
        guard isFinite else { throw error(.nonFiniteNumber) }
        guard format.decimalSeparator != "." else { return value.description }
        return value.description.replacing(".", with: String(format.decimalSeparator))
    }

    private func date(
        _ value: Date, _ error: (CSVEncodingError.Reason) -> CSVEncodingError
    ) throws -> String {
        let seconds = value.timeIntervalSince1970
        switch dateEncodingStrategy {
        case .secondsSince1970: return try number(seconds, seconds.isFinite, error)
        case .millisecondsSince1970: return try number(seconds * 1_000, (seconds * 1_000).isFinite, error)
        case .iso8601:
            // The years 1 to 9999, as ISO 8601 has four digits.
            guard (-62_135_596_800..<253_402_300_800).contains(seconds) else { throw error(.dateOutOfRange) }
            let hasFraction = seconds != seconds.rounded(.down)
            return Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).format(value)
        case .formatted(let formatter): return formatter.string(from: value)
        case .custom(let write): return try write(value)
        }
    }
}
