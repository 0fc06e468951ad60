import AfarSerializers
import Foundation

extension JSONValue {
    /// The keys and indices from the root to this value.
    var path: [any CodingKey] {
        let details = document.details
        var value = self
        var values: [JSONValue] = []
        while value.place != Self.noPlace, value.parent != details.lastPath.node {
            values.append(value)
            value = document.value(value.parent)
        }
        var path = value.place == Self.noPlace ? [] : details.lastPath.path + [value.key(at: details.lastPath.path)]
        for value in values.reversed() {
            details.lastPath = (value.parent, path)
            path.append(value.key(at: path))
        }
        return path
    }

    /// Returns the last key of the path.
    ///
    /// - Parameter path: The path of the containing array or object.
    private func key(at path: [any CodingKey]) -> JSONKey {
        let details = document.details
        if place >= Self.firstAbsent { return JSONKey(stringValue: details.absentNames[Int(place - Self.firstAbsent)]) }
        if document.isArray(parent) { return JSONKey(intValue: Int(place)) }
        let isWritten = document.isDictionary(parent)
        return JSONKey(stringValue: isWritten ? details.names.written(place) : details.names.name(place, at: path))
    }

    /// Checks that the value has the expected kind, and that the stack has room for its elements.
    ///
    /// - Throws: A `DecodingError`.
    func require(_ isOfKind: Bool, _ type: Any.Type) throws {
        guard isOfKind else { throw mismatch(type) }
        guard document.hasStack else {
            throw corrupted("Values are nested deeper than the stack of this thread allows")
        }
    }

    /// Returns the error for a value of the wrong kind.
    func mismatch(_ type: Any.Type) -> DecodingError {
        let context = context("Expected \(type) but found \(kind)")
        return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// Returns the error for a number that the type can't represent.
    func unrepresentable(_ type: Any.Type) -> DecodingError {
        corrupted("\(String(decoding: document.bytes(node).prefix(60), as: UTF8.self)) is not a value of \(type)")
    }

    func corrupted(_ problem: String) -> DecodingError { .dataCorrupted(context(problem)) }

    func missing(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(key, context("The object has no member \(key.stringValue.debugDescription)"))
    }

    func missing(_ type: Any.Type, at index: Int) -> DecodingError {
        .valueNotFound(
            type,
            context(
                "The array has only \(index) elements", path: path + [JSONKey(intValue: index)]))
    }

    func duplicate(_ key: UInt32) -> DecodingError {
        let name = document.details.names.written(document.keyNumber(key)).prefix(60).debugDescription
        return .dataCorrupted(context("The object has several members \(name)", location: location(key)))
    }

    /// The error for the use of a decoder after its document was closed.
    static let closed = DecodingError.dataCorrupted(
        DecodingError.Context(
            codingPath: [],
            debugDescription: "A decoder was used after decoding had ended. Use it only within init(from:)."))

    private func context(
        _ problem: String, path: [any CodingKey]? = nil, location: JSONLocation? = nil
    ) -> DecodingError.Context {
        let location = location ?? self.location(node)
        return DecodingError.Context(
            codingPath: path ?? self.path, debugDescription: "\(problem) at \(location)", underlyingError: location)
    }

    private func location(_ node: UInt32) -> JSONLocation {
        // A missing value has the location of its container.
        let node = place >= Self.firstAbsent && place != Self.noPlace ? parent : node
        return document.details.locations.location(of: document.offset(node), in: document.text)
    }

    private var kind: String {
        switch first {
        case UInt8(ascii: "{"): "an object"
        case UInt8(ascii: "["): "an array"
        case UInt8(ascii: "\""): "a string"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
        case UInt8(ascii: "n"): "null"
        default: "a number"
        }
    }
}

/// A key of a coding path: a name or an index.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }
}

/// The locations in a text. Caches intermediate locations, because types that try several ways to decode each value create many errors.
struct JSONLocations {
    /// The location of every 1024th byte, up to the last requested byte.
    private var marks = [JSONLocation()]

    private static let distance = 1_024

    mutating func location(of offset: Int, in text: UnsafeRawBufferPointer) -> JSONLocation {
        func advanced(_ mark: JSONLocation, to end: Int) -> JSONLocation {
            mark.advanced(over: UnsafeRawBufferPointer(rebasing: text[mark.byteOffset..<end]))
        }
        while let last = marks.last, last.byteOffset + Self.distance <= offset {
            marks.append(advanced(last, to: last.byteOffset + Self.distance))
        }
        return advanced(marks[offset / Self.distance], to: offset)
    }
}
