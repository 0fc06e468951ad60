import AfarSerializers
import Foundation

extension JSONValue {
    /// The keys and indices from the root to here.
    var path: [any CodingKey] {
        var steps: [(parent: UInt32, place: UInt32)] = []
        var (parent, place) = (parent, place)
        while place != Self.noPlace {
            steps.append((parent, place))
            (parent, place) = document.place(of: parent)
        }
        return steps.reversed().reduce(into: []) { path, step in
            path.append(
                document.first(step.parent) == UInt8(ascii: "[")
                    ? JSONKey(intValue: Int(step.place))
                    : JSONKey(stringValue: document.details.names.name(step.place, at: path)))
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
    func duplicate(_ name: String, _ key: UInt32) -> DecodingError {
        .dataCorrupted(
            context("The name \(name.debugDescription) stands in the object again", location: location(key)))
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
        document.details.locations.location(of: document.offset(node), in: document.text)
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
