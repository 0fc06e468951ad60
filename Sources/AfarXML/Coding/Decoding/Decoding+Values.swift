import CLibxml2
import Foundation

extension Decoding {
    /// Reads the value at a place.
    func value<Value: Decodable>(
        _ type: Value.Type, at place: Place, inside parent: ElementDecoder?, key: (any CodingKey)?
    ) throws -> Value {
        // Names of types that are compared cost less than a dynamic cast of each of a long list's values.
        if type == String.self {
            if !place.isNil, !place.isList { return unsafeBitCast(place.text, to: type) }
        } else if type == Int.self {
            if !place.isNil, let value = place.scalar(Int.self) { return unsafeBitCast(value, to: type) }
        } else if type == Double.self {
            if !place.isNil, let value = place.scalar(Double.self) { return unsafeBitCast(value, to: type) }
        }
        return try value(type, here: ElementDecoder(place, self, inside: parent, key: key))
    }

    /// Reads the value at a decoder's place.
    func value<Value: Decodable>(_ type: Value.Type, here decoder: ElementDecoder) throws -> Value {
        let place = decoder.place
        if type == String.self {
            return try result(place.isList ? nil : place.text, decoder, "text")
        }
        switch kind(of: type) {
        case .scalar(let scalar):
            return try result(place.value(scalar), decoder, scalar.expectation)
        case .date:
            if let date = try date(decoder) as? Value { return date }
        case .data:
            if let data = try data(decoder) as? Value { return data }
        case .choice:
            if case .item = place.role {
                return try own(type, ElementDecoder(Place(place.node, .choice), self, inside: decoder, key: nil))
            }
        case .list(let element, isOfChoices: true):
            if case .item = place.role {
                return try own(
                    type, ElementDecoder(Place(place.node, .choices(element)), self, inside: decoder, key: nil))
            }
        case .own, .list, .placed: break
        }
        return try own(type, decoder)
    }

    /// Has the type's own initializer read the value.
    private func own<Value: Decodable>(_ type: Value.Type, _ decoder: ElementDecoder) throws -> Value {
        do {
            return try Value(from: decoder)
        } catch {
            throw located(error, at: decoder.place)
        }
    }

    /// A date as the strategy reads it; nil where `Date` reads itself.
    private func date(_ decoder: ElementDecoder) throws -> Date? {
        switch options.dateDecodingStrategy {
        case .deferredToDate: return nil
        case .secondsSince1970:
            return Date(timeIntervalSince1970: try decoder.decode(Double.self))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try decoder.decode(Double.self) / 1000)
        case .iso8601:
            if decoder.place.isNil { throw decoder.nothing(Date.self) }
            guard let date = decoder.place.withTrimmedText(XMLDateTime.date) else {
                throw decoder.unreadable(XMLDateTime.expectation)
            }
            return date
        case .formatted(let formatter):
            let text = try decoder.decode(String.self)
            guard let date = formatter.date(from: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw decoder.unreadable("a date of the format \(formatter.dateFormat ?? "of the formatter")")
            }
            return date
        case .custom(let read): return try read(decoder)
        }
    }

    /// Bytes as the strategy reads them; nil where `Data` reads itself.
    private func data(_ decoder: ElementDecoder) throws -> Data? {
        let read: (UnsafeBufferPointer<UInt8>) -> Data?
        switch options.dataDecodingStrategy {
        case .deferredToData: return nil
        case .custom(let read): return try read(decoder)
        case .base64: read = XMLBinary.base64
        case .hexadecimal: read = XMLBinary.hexadecimal
        }
        if decoder.place.isNil { throw decoder.nothing(Data.self) }
        guard let data = decoder.place.withTrimmedText(read) else {
            throw decoder.unreadable("bytes in \(options.dataDecodingStrategy)")
        }
        return data
    }

    /// A value that was read, or the error that there is none.
    private func result<Value>(_ value: (any Sendable)?, _ decoder: ElementDecoder, _ expectation: String) throws
        -> Value
    {
        if decoder.place.isNil { throw decoder.nothing(Value.self) }
        guard let value = value as? Value else {
            throw decoder.unreadable(expectation)
        }
        return value
    }
}
