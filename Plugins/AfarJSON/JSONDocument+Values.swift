import Foundation

extension JSONDocument {
    /// Decodes any value. What Foundation's decoder has ways of its own for is treated likewise.
    func decode<T: Decodable>(_ type: T.Type, at value: JSONValue) throws -> T {
        if T.self == String.self { return same(try string(at: value)) }
        if T.self == Int.self { return same(try integer(Int.self, at: value)) }
        if T.self == Double.self { return same(try double(at: value)) }
        if T.self == Date.self { return same(try date(at: value)) }
        if T.self == Data.self { return same(try data(at: value)) }
        if T.self == URL.self { return same(try url(at: value)) }
        if T.self == Decimal.self { return same(try decimal(at: value)) }
        var value = value
        value.keepsKeys = isConvertingKeys && T.self is any StringKeyedDictionary.Type
        return try T(from: ValueDecoder(value: value))
    }

    /// The same value, whose type has turned out to be the one that was asked for.
    private func same<Known, T>(_ value: Known) -> T { unsafeBitCast(value, to: T.self) }

    private var isConvertingKeys: Bool {
        if case .asWritten = names.comparison { false } else { true }
    }

    private func date(at value: JSONValue) throws -> Date {
        switch options.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: ValueDecoder(value: value))
        case .secondsSince1970: return Date(timeIntervalSince1970: try double(at: value))
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try double(at: value) / 1_000)
        case .iso8601:
            let text = try string(at: value)
            guard let date = try? Date.ISO8601FormatStyle().parse(text) else {
                throw corrupted("This is no date of ISO 8601", at: value)
            }
            return date
        #if canImport(Darwin)
            // Elsewhere this strategy is a custom one.
            case .formatted(let formatter):
                guard let date = formatter.date(from: try string(at: value)) else {
                    throw corrupted("This is no date of the format that is wanted", at: value)
                }
                return date
        #endif
        case .custom(let decode): return try decode(ValueDecoder(value: value))
        @unknown default: return try Date(from: ValueDecoder(value: value))
        }
    }

    private func data(at value: JSONValue) throws -> Data {
        switch options.dataDecodingStrategy {
        case .deferredToData: return try Data(from: ValueDecoder(value: value))
        case .base64:
            guard let data = Data(base64Encoded: try string(at: value)) else {
                throw corrupted("This is no Base64", at: value)
            }
            return data
        case .custom(let decode): return try decode(ValueDecoder(value: value))
        @unknown default: return try Data(from: ValueDecoder(value: value))
        }
    }

    private func url(at value: JSONValue) throws -> URL {
        guard let url = URL(string: try string(at: value)) else { throw corrupted("This is no URL", at: value) }
        return url
    }
}

/// Dictionaries whose keys are data, not names of members, so no strategy converts them.
private protocol StringKeyedDictionary {}

extension Dictionary: StringKeyedDictionary where Key == String, Value: Decodable {}
