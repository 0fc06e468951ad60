import AfarCore
public import Foundation

/// An error in the standard format for HTTP APIs, `application/problem+json` (RFC 9457).
///
/// Unknown members are kept in ``extensions``. As the standard requires, a standard member with a value of the wrong type is
/// ignored (section 3.1). The text comes from the server, so don't show ``title`` and ``detail`` to users as if they were
/// your app's own text. ``description`` is safe to print.
public struct ProblemDetails: Error, Hashable, Sendable {
    /// The media type of problem details in JSON.
    public static let contentType = "application/problem+json"

    /// A URI reference that identifies the kind of problem, as written. Without this member, it is "about:blank" (section 3.1.1).
    public var type = "about:blank"
    /// The status code, as the origin server set it. An intermediary can change the response's own status code.
    public var status: Int?
    /// A short summary of the kind of problem.
    public var title: String?
    /// An explanation of this occurrence of the problem.
    public var detail: String?
    /// A URI reference that identifies this occurrence of the problem, as written.
    public var instance: String?
    /// All other members.
    public var extensions: [String: Member] = [:]

    /// Creates problem details without members.
    public init() {}

    /// The value of an extension member.
    public enum Member: Hashable, Sendable {
        /// The literal `null`.
        case null
        /// A Boolean value.
        case bool(Bool)
        /// A whole number.
        case integer(Int)
        /// Any other number.
        case number(Double)
        /// A string.
        case string(String)
        /// An array.
        case array([Member])
        /// An object.
        case object([String: Member])
    }
}

extension ProblemDetails: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }

        static let type = Key(stringValue: "type")
        static let status = Key(stringValue: "status")
        static let title = Key(stringValue: "title")
        static let detail = Key(stringValue: "detail")
        static let instance = Key(stringValue: "instance")
        static let standard = Set([type, status, title, detail, instance].map(\.stringValue))
    }

    /// Decodes problem details.
    ///
    /// An extension member is ignored if it is nested more than 10 levels deep, or contains a number that a `Double` can't represent.
    ///
    /// - Throws: `DecodingError` if the value isn't an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if let type = try? container.decode(String.self, forKey: .type) { self.type = type }
        status = try? container.decode(Int.self, forKey: .status)
        title = try? container.decode(String.self, forKey: .title)
        detail = try? container.decode(String.self, forKey: .detail)
        instance = try? container.decode(String.self, forKey: .instance)
        for key in container.allKeys where !Key.standard.contains(key.stringValue) {
            extensions[key.stringValue] = try? container.decode(Member.self, forKey: key)
        }
    }

    /// Encodes problem details. Extension members with the name of a standard member are omitted.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(type, forKey: .type)
        try container.encodeIfPresent(status, forKey: .status)
        try container.encodeIfPresent(title, forKey: .title)
        try container.encodeIfPresent(detail, forKey: .detail)
        try container.encodeIfPresent(instance, forKey: .instance)
        for (name, member) in extensions where !Key.standard.contains(name) {
            try container.encode(member, forKey: Key(stringValue: name))
        }
    }
}

extension ProblemDetails.Member: Codable {
    /// The maximum depth. Decoders are recursive, and each value takes longer at a greater depth.
    private static let maximumDepth = 10

    /// Decodes a value of any kind.
    ///
    /// - Throws: `DecodingError` if the value is nested too deeply.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The value is nested too deeply.")
        }
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? container.decode(Int.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([Self].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: Self].self))
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        case .string(let string): try container.encode(string)
        case .array(let array): try container.encode(array)
        case .object(let object): try container.encode(object)
        }
    }
}

extension ProblemDetails: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
    /// The title, the detail, the status code, the type and the instance on one line, without control characters. Credentials in
    /// URLs are hidden, and long text is shortened.
    public var description: String {
        let text = [title ?? "The server reported a problem", detail].compactMap { $0 }.map(Self.shown)
        let facts = [status.map { "status \($0)" }, type == "about:blank" ? nil : type, instance].compactMap { $0 }
        let line = text.joined(separator: ": ")
        return TerminalText.line(facts.isEmpty ? line : "\(line) (\(facts.map(Self.shown).joined(separator: ", ")))")
    }

    /// Returns the first characters of text. Credentials are hidden before the text is shortened, because credentials in a URL might not be
    /// recognized without the URL's end.
    private static func shown(_ text: String) -> String {
        let scalars = Redaction.standard.text(text).unicodeScalars
        let end = scalars.index(scalars.startIndex, offsetBy: 300, limitedBy: scalars.endIndex) ?? scalars.endIndex
        return String(scalars[..<end]) + (end < scalars.endIndex ? "…" : "")
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
