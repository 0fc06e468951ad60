import AfarSerializers
import CJSONDocument
import Foundation

extension JSONDocument {
    /// The keys and indices from the root to a value.
    func path(to value: JSONValue) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var (parent, place) = (value.parent, value.place)
        while place != JSONValue.noPlace {
            path.append(key(place, of: parent))
            guard parent != 0 else { break }
            let container = container(parent).pointee
            (parent, place) = (container.parent, container.place)
        }
        return path.reversed()
    }

    private func key(_ place: UInt32, of parent: UInt32) -> any CodingKey {
        if first(parent) == UInt8(ascii: "[") { return JSONKey(intValue: Int(place)) }
        let object = container(parent).pointee
        let value = JSONValue(
            document: self, node: parent, parent: object.parent, place: parent == 0 ? JSONValue.noPlace : object.place)
        return JSONKey(stringValue: names.name(place, at: path(to: value)))
    }

    /// The value is of another kind than what is wanted.
    func mismatch(_ type: Any.Type, at value: JSONValue) -> DecodingError {
        let found = kind(of: value.node)
        let context = context("\(type) is wanted, and there is \(found)", at: value)
        return isNull(value.node) ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The number is none of the type's.
    func unrepresentable(_ type: Any.Type, at value: JSONValue) -> DecodingError {
        let number = String(decoding: bytes(value.node).prefix(60), as: UTF8.self)
        return corrupted("\(number) is no value of \(type)", at: value)
    }

    func corrupted(_ problem: String, at value: JSONValue) -> DecodingError {
        .dataCorrupted(context(problem, at: value))
    }

    func noMember(_ key: any CodingKey, in object: JSONValue) -> DecodingError {
        .keyNotFound(key, context("There is no member \(key.stringValue.debugDescription) in the object", at: object))
    }

    func noElement(_ type: Any.Type, in array: JSONValue, index: Int) -> DecodingError {
        let context = context("There are no more than \(index) elements in the array", at: array)
        return .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: context.codingPath + [JSONKey(intValue: index)],
                debugDescription: context.debugDescription, underlyingError: context.underlyingError))
    }

    func duplicateKey(_ name: String, at key: UInt32, _ earlier: UInt32, in object: JSONValue) -> DecodingError {
        let location = location(of: earlier)
        return .dataCorrupted(
            context("The name \(name.debugDescription) stands also at \(location)", at: object, location: key))
    }

    private func context(
        _ problem: String, at value: JSONValue, location node: UInt32? = nil
    ) -> DecodingError.Context {
        let location = location(of: node ?? value.node)
        return DecodingError.Context(
            codingPath: path(to: value), debugDescription: "\(problem) at \(location)", underlyingError: location)
    }

    private func location(of node: UInt32) -> JSONLocation {
        JSONLocation(of: Int(nodes[Int(node)].offset), in: UnsafeRawBufferPointer(start: text, count: length))
    }

    private func kind(of node: UInt32) -> String {
        switch first(node) {
        case UInt8(ascii: "{"): "an object"
        case UInt8(ascii: "["): "an array"
        case UInt8(ascii: "\""): "a string"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
        case UInt8(ascii: "n"): "null"
        default: "a number"
        }
    }
}
