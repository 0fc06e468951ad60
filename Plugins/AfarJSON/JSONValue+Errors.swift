import AfarSerializers
import Foundation

extension JSONValue {
    /// The keys and indices from the root to here.
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

    /// The last one of the path.
    ///
    /// - Parameter path: That of the array or object that this is in.
    private func key(at path: [any CodingKey]) -> JSONKey {
        let details = document.details
        if place >= Self.firstAbsent { return JSONKey(stringValue: details.absentNames[Int(place - Self.firstAbsent)]) }
        if document.isArray(parent) { return JSONKey(intValue: Int(place)) }
        let isWritten = document.isDictionary(parent)
        return JSONKey(stringValue: isWritten ? details.names.written(place) : details.names.name(place, at: path))
    }

    /// Checks that the value is of the kind that is wanted, and that there is room to go into it.
    ///
    /// - Throws: A `DecodingError`.
    func require(_ isOfKind: Bool, _ type: Any.Type) throws {
        guard isOfKind else { throw mismatch(type) }
        guard document.hasStack else {
            throw corrupted("Values are nested deeper than the stack of this thread allows")
        }
    }

    /// The value is of another kind than what is wanted.
    func mismatch(_ type: Any.Type) -> DecodingError {
        let context = context("\(type) is wanted, and there is \(kind)")
        return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The number is none of the type's.
    func unrepresentable(_ type: Any.Type) -> DecodingError {
        corrupted("\(String(decoding: document.bytes(node).prefix(60), as: UTF8.self)) is no value of \(type)")
    }

    func corrupted(_ problem: String) -> DecodingError { .dataCorrupted(context(problem)) }

    /// The object has no such member.
    func lacks(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(key, context("There is no member \(key.stringValue.debugDescription) in the object"))
    }

    /// The array has no such element.
    func lacks(_ type: Any.Type, at index: Int) -> DecodingError {
        .valueNotFound(
            type,
            context(
                "There are no more than \(index) elements in the array", path: path + [JSONKey(intValue: index)]))
    }

    /// A name stands in the object before, too.
    func duplicate(_ key: UInt32) -> DecodingError {
        let name = document.details.names.written(document.keyNumber(key)).prefix(60).debugDescription
        return .dataCorrupted(context("The name \(name) stands in the object again", location: location(key)))
    }

    /// Someone has kept a decoder, and uses it when its document is gone.
    static let closed = DecodingError.dataCorrupted(
        DecodingError.Context(
            codingPath: [],
            debugDescription: "A decoder was used after decoding had ended. Read what is needed within init(from:)."))

    private func context(
        _ problem: String, path: [any CodingKey]? = nil, location: JSONLocation? = nil
    ) -> DecodingError.Context {
        let location = location ?? self.location(node)
        return DecodingError.Context(
            codingPath: path ?? self.path, debugDescription: "\(problem) at \(location)", underlyingError: location)
    }

    private func location(_ node: UInt32) -> JSONLocation {
        // What is not there has the place of what it should be in.
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

// MARK: - Places

/// A place in a document as a coding path has it: a name, or an index.
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

/// The locations in a text, found from marks on the way: a type may try several ways for each value, and each that fails
/// makes an error.
struct JSONLocations {
    /// The location of each 1024th byte, as far as one was asked for.
    private var marks = [JSONLocation()]

    private static let distance = 1_024

    /// The location of a byte.
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
