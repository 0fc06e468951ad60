public import Foundation

/// What the body of a request has to be for a ``Stub`` to fit it.
public struct BodyPattern: Sendable, CustomStringConvertible {
    /// What it demands, in words.
    public let description: String
    let matches: @Sendable (Data) -> Bool

    /// These bytes.
    public static func data(_ data: Data) -> BodyPattern {
        BodyPattern(description: "a body of \(data.count) given bytes") { $0 == data }
    }

    /// This text in UTF-8.
    public static func text(_ text: String) -> BodyPattern {
        BodyPattern(description: "the body \(text)") { $0 == Data(text.utf8) }
    }

    /// A text with this in it.
    public static func containing(_ part: String) -> BodyPattern {
        BodyPattern(description: "a body containing \(part)") { String(decoding: $0, as: UTF8.self).contains(part) }
    }

    /// A value as JSON, in whatever order its keys are written.
    public static func json(_ value: some Encodable & Sendable) -> BodyPattern {
        let encoded = try? JSONEncoder.sortingKeys.encode(value)
        return BodyPattern(
            description: "the body \(encoded.map { String(decoding: $0, as: UTF8.self) } ?? "that cannot be JSON")"
        ) { body in
            encoded.map { Self.isSameJSON($0, body) } ?? false
        }
    }

    private static func isSameJSON(_ first: Data, _ second: Data) -> Bool {
        let values = [first, second].map {
            try? JSONSerialization.jsonObject(with: $0, options: .fragmentsAllowed) as? NSObject
        }
        guard let first = values[0], let second = values[1] else { return false }
        return first.isEqual(second)
    }
}
