import AfarCore
import AfarSerializers
import Foundation
import HTTPTypes

extension Subject {
    static let json = [
        Subject("json", seeds: jsonSeeds.flatMap(inEncodings), tokens: jsonTokens) { (input, _) throws(Contradiction) in
            let decoded = try serialized(input, .decodable(of: JSONValue.self), "application/json")
            return try serialized(input, JSONResponseSerializer(), "application/json") || decoded
        }
    ]

    static let jsonSeeds = [
        "{\"id\":7,\"name\":\"Ada\",\"tags\":[\"a\",\"\\u00e9\\n\"],\"ok\":true,\"x\":null,\"n\":[-1,0.5,1e3]}",
        "[[[[{\"a\":[{}]}]]]]", "\"\u{1F600}\\ud83d\\ude00\"", " 12.5e-7 ", "[]",
    ]

    static let jsonTokens = [
        "[", "]", "{", "}", "\"", "\\", ",", ":", "{\"a\":", "\\u", "\\ud83d", "\\u0000", "1e999", "-", "0.1", "null",
        "true",
        "99999999999999999999", "\u{FEFF}", "\0", "/*", "NaN", "[[[[", "[{\"a\":",
    ]

    /// Returns a text in all encodings that JSON can have.
    private static func inEncodings(_ text: String) -> [Data] {
        [.utf8, .utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf16].compactMap { text.data(using: $0) }
    }

    /// Returns whether a serializer accepts a response.
    static func serialized(
        _ body: Data, _ serializer: some ResponseSerializer, _ contentType: String
    ) throws(Contradiction) -> Bool {
        let head = ResponseHead(status: 200, fields: [.contentType: contentType], url: "http://localhost/")
        do {
            // Printing must work, too.
            _ = "\(try serializer.serialize(SerializationInput(request: nil, head: head, data: body, error: nil)))"
            return true
        } catch {
            try Contradiction.check(error is AFError, true, "whether it is an AFError: \(error)")
            _ = error.localizedDescription
            return false
        }
    }
}

/// Any JSON value, or an equivalent value in another format.
enum JSONValue: Decodable, Sendable {
    case null, bool(Bool), number(Double), string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        if let array = try? decoder.unkeyedContainer() {
            var container = array
            var values: [JSONValue] = []
            while !container.isAtEnd { values.append(try container.decode(JSONValue.self)) }
            self = .array(values)
        } else if let container = try? decoder.container(keyedBy: Key.self) {
            var values: [String: JSONValue] = [:]
            for key in container.allKeys { values[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
            self = .object(values)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else {
                self = .string(try container.decode(String.self))
            }
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension JSONValue: CustomStringConvertible {
    /// A description with the members sorted by name, so that equal values have equal descriptions.
    var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value.debugDescription
        case .array(let values): "\(values)"
        case .object(let values): "{\(values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })}"
        }
    }
}
