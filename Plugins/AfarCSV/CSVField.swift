import Foundation

struct CSVField {
    let row: CSVRow
    let index: Int
    let key: (any CodingKey)?

    var codingPath: [any CodingKey] { row.codingPath + [key].compactMap { $0 } }

    var isNil: Bool {
        let field = row.record.fields[index]
        switch row.options.nilDecodingStrategy {
        case .emptyField: return field.range.isEmpty
        case .emptyUnquotedField: return field.range.isEmpty && !field.isQuoted
        case .anyOf(let texts):
            let bytes = row.record.bytes[field.range]
            return texts.contains { bytes.elementsEqual($0.utf8) }
        }
    }

    func text() throws -> String { try row.text(index, key) }

    /// Returns the field's text. Throws an error if the field is nil.
    func presentText(for type: Any.Type) throws -> String {
        guard !isNil else {
            throw DecodingError.valueNotFound(type, row.context("The field is nil instead of \(type).", key))
        }
        return try text()
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let scalar = type as? any CSVScalar.Type else {
            return try row.make(type, from: CSVFieldDecoder(field: self), key)
        }
        guard let value = try scalar.init(csv: self) as? T else { throw mismatch(type, "The field is not a \(type).") }
        return value
    }

    /// Returns the error for a field that has the wrong type. The error omits the field's text, because errors are often
    /// logged.
    func mismatch(_ type: Any.Type, _ words: String) -> DecodingError {
        .typeMismatch(type, row.context(words, key))
    }
}

/// Decodes a field for a type with its own `init(from:)`, such as an enum with raw values.
struct CSVFieldDecoder: Decoder, SingleValueDecodingContainer {
    let field: CSVField

    var codingPath: [any CodingKey] { field.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { field.row.userInfo }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw field.mismatch(KeyedDecodingContainer<Key>.self, "A field can't contain other fields.")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw field.mismatch((any UnkeyedDecodingContainer).self, "A field can't contain a list.")
    }

    func decodeNil() -> Bool { field.isNil }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try field.decode(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try field.decode(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try field.decode(type) }
}

/// A type that is decoded directly from a field.
protocol CSVScalar: Decodable {
    /// Creates a value from a field.
    ///
    /// - Throws: A `DecodingError` that describes the expected value.
    init(csv field: CSVField) throws
}

extension String: CSVScalar {
    init(csv field: CSVField) throws { self = try field.text() }
}

extension Bool: CSVScalar {
    init(csv field: CSVField) throws {
        let text = try field.presentText(for: Bool.self)
        switch text.lowercased() {
        case "true", "yes", "1": self = true
        case "false", "no", "0": self = false
        default: throw field.mismatch(Bool.self, "The field is not true, yes, 1, false, no or 0.")
        }
    }
}

extension FixedWidthInteger {
    init(csv field: CSVField) throws {
        let text = try field.presentText(for: Self.self)
        guard let value = Self(text) else {
            throw field.mismatch(Self.self, "The field is not an integer from \(Self.min) to \(Self.max).")
        }
        self = value
    }
}

extension Int: CSVScalar {}
extension Int8: CSVScalar {}
extension Int16: CSVScalar {}
extension Int32: CSVScalar {}
extension Int64: CSVScalar {}
extension Int128: CSVScalar {}
extension UInt: CSVScalar {}
extension UInt8: CSVScalar {}
extension UInt16: CSVScalar {}
extension UInt32: CSVScalar {}
extension UInt64: CSVScalar {}
extension UInt128: CSVScalar {}

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    init(csv field: CSVField) throws {
        let text = try field.number(for: Self.self)
        // A number that is too large becomes infinite.
        guard let value = Self(text), value.isFinite else {
            throw field.mismatch(Self.self, "The field is not a number of this type.")
        }
        self = value
    }
}

extension Double: CSVScalar {}
extension Float: CSVScalar {}

extension Decimal: CSVScalar {
    init(csv field: CSVField) throws {
        let text = try field.number(for: Decimal.self)
        guard let value = Decimal(exactly: text) else {
            throw field.mismatch(Decimal.self, "The field is not a number of at most 38 digits.")
        }
        self = value
    }
}

extension Data: CSVScalar {
    init(csv field: CSVField) throws {
        let text = try field.text()
        guard let value = Data(base64Encoded: text) else {
            throw field.mismatch(Data.self, "The field is not base64.")
        }
        self = value
    }
}

extension URL: CSVScalar {
    init(csv field: CSVField) throws {
        let text = try field.presentText(for: URL.self)
        guard let value = URL(string: text) else { throw field.mismatch(URL.self, "The field is not a URL.") }
        self = value
    }
}

extension Date: CSVScalar {
    init(csv field: CSVField) throws {
        let text = try field.presentText(for: Date.self)
        switch field.row.options.dateDecodingStrategy {
        case .secondsSince1970: self.init(timeIntervalSince1970: try Double(csv: field))
        case .millisecondsSince1970: self.init(timeIntervalSince1970: try Double(csv: field) / 1_000)
        case .iso8601:
            guard let date = Date(iso8601: text) else {
                throw field.mismatch(Date.self, "The field is not a date such as 2024-05-06 or 2024-05-06T07:08:09Z.")
            }
            self = date
        case .formatted(let formatter):
            guard let date = formatter.date(from: text) else {
                throw field.mismatch(Date.self, "The field is not a date in the formatter's format.")
            }
            self = date
        case .custom(let read): self = try read(text)
        }
    }

    private init?(iso8601 text: String) {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.utf8.contains(UInt8(ascii: ".")))
        guard let date = try? text.utf8.count <= 10 ? style.year().month().day().parse(text) : style.parse(text) else {
            return nil
        }
        self = date
    }
}

extension CSVField {
    /// Returns the text of a number, with a full stop as its decimal separator.
    ///
    /// Rejects the hexadecimal numbers, infinity and NaN that Swift's parsers accept.
    fileprivate func number(for type: Any.Type) throws -> String {
        let text = try presentText(for: type)
        let separator = row.options.format.decimalSeparator.asciiValue ?? .fullStop
        guard text.utf8.allSatisfy({ $0.isNumberCharacter || $0 == separator }) else {
            throw mismatch(type, "The field is not a number.")
        }
        guard separator != .fullStop else { return text }
        return String(decoding: text.utf8.map { $0 == separator ? .fullStop : $0 }, as: UTF8.self)
    }
}

extension Decimal {
    /// Creates a decimal that keeps all digits of a number, or returns nil if it has too many digits.
    fileprivate init?(exactly text: String) {
        let mantissa = text.prefix { $0 != "e" && $0 != "E" }
        let digits = mantissa.filter { $0.isWholeNumber }.drop { $0 == "0" }
        // Decimal's parser ignores trailing characters; Double's rejects them.
        guard Double(text) != nil, digits.count <= 38, let value = Decimal(string: text, locale: nil), value.isFinite
        else { return nil }
        self = value
    }
}

extension UInt8 {
    fileprivate static var fullStop: UInt8 { 0x2E }

    /// Whether the byte is a digit, a sign or an exponent marker.
    fileprivate var isNumberCharacter: Bool {
        switch self {
        case 0x30...0x39, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }
}
