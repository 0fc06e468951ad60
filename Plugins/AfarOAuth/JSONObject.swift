import Foundation

/// A JSON object of a server. Duplicate names are resolved by the parser.
struct JSONObject: Sendable, Decodable {
    private enum Value: Sendable, Decodable {
        case string(String)
        case number(Double)
        case bool(Bool)
        case null
        case object(JSONObject)
        case strings([String])
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let text = try? container.decode(String.self) {
                self = .string(text)
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let object = try? container.decode(JSONObject.self) {
                self = .object(object)
            } else if let texts = try? container.decode([String].self) {
                self = .strings(texts)
            } else {
                self = .other
            }
        }
    }

    private let members: [String: Value]

    init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: Value].self)
    }

    /// Returns the object in a text, or nil if the text isn't an object.
    init?(_ data: Data) {
        let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        // Foundation's decoder can crash on input that ends with an opening bracket.
        guard data.last(where: { !spaces.contains($0) }) == UInt8(ascii: "}"),
            let object = try? JSONDecoder().decode(JSONObject.self, from: data)
        else { return nil }
        self = object
    }

    func string(_ name: String) -> String? {
        if case .string(let text) = members[name] { text } else { nil }
    }

    /// Returns a string, or nil if it is empty. Some servers send an empty member instead of omitting it.
    func nonemptyString(_ name: String) -> String? { string(name).flatMap { $0.isEmpty ? nil : $0 } }

    func bool(_ name: String) -> Bool? {
        if case .bool(let value) = members[name] { value } else { nil }
    }

    func object(_ name: String) -> JSONObject? {
        if case .object(let object) = members[name] { object } else { nil }
    }

    func strings(_ name: String) -> [String]? {
        if case .strings(let texts) = members[name] { texts } else { nil }
    }

    /// Whether the object has a member that isn't null.
    func contains(_ name: String) -> Bool {
        switch members[name] {
        case nil, .null: false
        default: true
        }
    }

    /// Returns a number of seconds. Some servers send it as a string.
    func seconds(_ name: String) -> TimeInterval? {
        switch members[name] {
        case .number(let number): number
        case .string(let text): TimeInterval(text).flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
    }

    /// Returns the members that are strings, numbers or Boolean values, with their values as text.
    func texts(except names: Set<String>) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, value) in members where !names.contains(name) {
            switch value {
            case .string(let text): texts[name] = text
            case .bool(let value): texts[name] = String(value)
            case .number(let number): texts[name] = Int64(exactly: number).map { String($0) } ?? String(number)
            case .null, .object, .strings, .other: break
            }
        }
        return texts
    }
}
