public import Foundation

extension URLEncodedFormEncoder {
    /// How a boolean is written.
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
        /// As a closure says.
        @preconcurrency case custom(@Sendable (Data) throws -> String)

        /// The text, or nil where the data should encode itself.
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
        /// As ISO 8601 and RFC 3339 say: `2026-01-31T12:00:00Z`.
        case iso8601
        /// As a formatter says.
        case formatted(DateFormatter)
        /// As a closure says.
        @preconcurrency case custom(@Sendable (Date) throws -> String)

        /// The text, or nil where the date should encode itself.
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
        /// Not at all: the key is left out too.
        public static let dropKey = NilEncoding { nil }
        /// As an empty value: `key=`.
        public static let dropValue = NilEncoding { "" }
        /// As `null`.
        public static let null = NilEncoding { "null" }

        private let encoding: @Sendable () -> String?

        /// Makes an encoding of a closure that gives the text, or nil to leave the key out.
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
