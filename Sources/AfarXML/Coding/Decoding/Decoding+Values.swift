import AfarCore
import CLibxml2
import Foundation

extension Decoding {
    /// Reads the value at a place.
    func value<Value: Decodable>(
        _ type: Value.Type, at place: Place, inside parent: ElementDecoder?, key: (any CodingKey)?
    ) throws -> Value {
        let kind = kind(of: type)
        if kind.isLeaf { return try leaf(type, kind, place, ElementDecoder(place, self, inside: parent, key: key)) }
        return try composite(type, kind, ElementDecoder(place, self, inside: parent, key: key))
    }

    /// Reads the value at a decoder's place.
    func value<Value: Decodable>(_ type: Value.Type, here decoder: ElementDecoder) throws -> Value {
        let kind = kind(of: type)
        if kind.isLeaf { return try leaf(type, kind, decoder.place, decoder) }
        return try composite(type, kind, decoder)
    }

    /// Has the type's own initializer read the value.
    private func composite<Value: Decodable>(
        _ type: Value.Type, _ kind: DecodedKind, _ decoder: ElementDecoder
    ) throws -> Value {
        let decoder = decoder.adjusted(to: kind)
        guard stack.enter() else { throw decoder.tooDeep(stack.depth) }
        defer { stack.leave() }
        do {
            return try Value(from: decoder)
        } catch {
            throw located(error, at: decoder.place)
        }
    }

    /// Reads a value that is one piece of text. In a function of its own, since the one above is on the stack many times.
    @inline(never)
    private func leaf<Value: Decodable>(
        _ type: Value.Type, _ kind: DecodedKind, _ place: Place, _ decoder: @autoclosure () -> ElementDecoder
    ) throws -> Value {
        // Types that are compared cost less than a dynamic cast of each of a long list's values.
        if type == String.self {
            if !place.isNil, !place.isList { return unsafeBitCast(place.text, to: type) }
        } else if type == Int.self {
            if !place.isNil, let value = place.scalar(Int.self) { return unsafeBitCast(value, to: type) }
        } else if type == Double.self {
            if !place.isNil, let value = place.scalar(Double.self) { return unsafeBitCast(value, to: type) }
        }
        let decoder = decoder()
        switch kind {
        case .scalar(let scalar):
            if place.isNil { throw decoder.nothing(type) }
            if let value = place.value(scalar) as? Value { return value }
            throw decoder.unreadable(scalar.expectation)
        case .date: if let date = try date(decoder) as? Value { return date }
        case .data: if let data = try data(decoder) as? Value { return data }
        case .text, .own, .list, .choice, .placed: break
        }
        throw place.isNil ? decoder.nothing(type) : decoder.mismatch(type, "Expected text, found a list")
    }

    /// A date as the strategy reads it.
    private func date(_ decoder: ElementDecoder) throws -> Date {
        switch options.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: decoder)
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

    /// Bytes as the strategy reads them.
    private func data(_ decoder: ElementDecoder) throws -> Data {
        let read: (UnsafeBufferPointer<UInt8>) -> Data?
        switch options.dataDecodingStrategy {
        case .deferredToData: return try Data(from: decoder)
        case .custom(let read): return try read(decoder)
        case .base64: read = XMLBinary.base64
        case .hexadecimal: read = XMLBinary.hexadecimal
        }
        if decoder.place.isNil { throw decoder.nothing(Data.self) }
        guard let data = decoder.place.withTrimmedText(read) else {
            throw decoder.unreadable(options.dataDecodingStrategy.expectation)
        }
        return data
    }
}

extension XMLDecoder.DataDecodingStrategy {
    fileprivate var expectation: String {
        switch self {
        case .base64: "bytes in base64"
        case .hexadecimal: "bytes in hexadecimal digits"
        case .deferredToData, .custom: "bytes"
        }
    }
}
