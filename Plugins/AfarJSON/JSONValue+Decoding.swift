import Foundation

/// A type whose values are not decoded by its own `init(from:)`: because Foundation's decoder does so too, or because it is
/// faster.
protocol DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Self
}

extension JSONValue {
    /// Decodes any value.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let direct = document.direct(type) else { return try type.init(from: ValueDecoder(self)) }
        return try decode(direct, as: type)
    }

    func decode<Direct: DirectlyDecodable, T>(_ direct: Direct.Type, as type: T.Type) throws -> T {
        // It is the same type.
        unsafeBitCast(try direct.decode(self), to: type)
    }
}

extension String: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> String { try value.string() }
}

extension Bool: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Bool { try value.bool() }
}

extension Int: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Int { try value.integer(Int.self) }
}

extension Double: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Double { try value.double() }
}

extension Decimal: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Decimal { try value.decimal() }
}

extension URL: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> URL {
        guard let url = URL(string: try value.string()) else { throw value.corrupted("This is no URL") }
        return url
    }
}

extension Data: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Data {
        switch value.document.options.dataDecodingStrategy {
        case .deferredToData: return try Data(from: ValueDecoder(value))
        case .base64:
            guard let data = Data(base64Encoded: try value.string()) else { throw value.corrupted("This is no Base64") }
            return data
        case .custom(let decode): return try decode(ValueDecoder(value))
        @unknown default: return try Data(from: ValueDecoder(value))
        }
    }
}

extension Date: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Date {
        switch value.document.options.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: ValueDecoder(value))
        case .secondsSince1970: return Date(timeIntervalSince1970: try value.double())
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try value.double() / 1_000)
        case .iso8601:
            guard let date = try? Date.ISO8601FormatStyle().parse(try value.string()) else {
                throw value.isString ? value.corrupted("This is no date of ISO 8601") : value.mismatch(String.self)
            }
            return date
        #if canImport(Darwin)
            // Elsewhere this strategy is a custom one.
            case .formatted(let formatter):
                guard let date = formatter.date(from: try value.string()) else {
                    throw value.corrupted("This is no date of the format that is wanted")
                }
                return date
        #endif
        case .custom(let decode): return try decode(ValueDecoder(value))
        @unknown default: return try Date(from: ValueDecoder(value))
        }
    }
}
