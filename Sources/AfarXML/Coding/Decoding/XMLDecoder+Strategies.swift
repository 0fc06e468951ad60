public import Foundation

extension XMLDecoder {
    /// How the names of elements and attributes become keys.
    ///
    /// The keys of dictionaries are names as they are, unless a closure changes them.
    public enum KeyDecodingStrategy: Sendable {
        /// As they are.
        case useDefaultKeys
        /// From words joined by `_`: the key `oneTwo` reads `one_two`, `feedURL` reads `feed_url`.
        case convertFromSnakeCase
        /// From words joined by `-`: the key `oneTwo` reads `one-two`, `feedURL` reads `feed-url`.
        case convertFromKebabCase
        /// As a closure says for the path of keys that ends with the local name of an element or attribute.
        @preconcurrency case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }

    /// How dates are written.
    public enum DateDecodingStrategy: Sendable {
        /// As `Date` decodes itself: the seconds since 2001.
        case deferredToDate
        /// As the seconds since 1970.
        case secondsSince1970
        /// As the milliseconds since 1970.
        case millisecondsSince1970
        /// As XML Schema's `dateTime` or `date`: `2024-05-06T07:08:09.5+02:00`, `2024-05-06`. Without a time zone, a date
        /// is in UTC.
        case iso8601
        /// As a formatter reads them.
        case formatted(DateFormatter)
        /// As a closure reads them.
        @preconcurrency case custom(@Sendable (_ decoder: any Decoder) throws -> Date)
    }

    /// How bytes are written.
    public enum DataDecodingStrategy: Sendable {
        /// As `Data` decodes itself: each byte is an element with a number.
        case deferredToData
        /// In base64, with white space anywhere.
        case base64
        /// In two hexadecimal digits a byte.
        case hexadecimal
        /// As a closure reads them.
        @preconcurrency case custom(@Sendable (_ decoder: any Decoder) throws -> Data)
    }
}
