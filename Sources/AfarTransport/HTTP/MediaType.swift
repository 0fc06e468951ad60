import HTTPTypes

/// A media type (RFC 9110, section 8.3.1) or a media range (section 12.5.1), with the parts that Afar uses.
public struct MediaType: Sendable, Hashable {
    /// The type without its parameters, in lowercase, such as "text/html". It isn't validated, and is empty if the type is missing.
    public let essence: String
    /// The charset as written, but without quotes; nil if it is missing.
    public let charset: String?

    /// Creates a type from its parts.
    public init(essence: String, charset: String?) {
        self.essence = essence
        self.charset = charset
    }

    /// Parses the value of a `Content-Type` field leniently. If the value lists several types, the first is used. If the value is nil, the
    /// type is empty.
    public init(_ value: String?) {
        guard let value else {
            self.init(essence: "", charset: nil)
            return
        }
        var list = FieldScanner(value)
        var scanner = FieldScanner(list.element())
        let essence = scanner.textUpToParameter().asciiLowercased
        var charset: String?
        while charset == nil, let parameter = scanner.parameter() {
            if parameter.name == "charset" { charset = Self.label(parameter.value) }
        }
        self.init(essence: essence, charset: charset)
    }

    /// Removes single quotes around a charset. HTTP permits only double quotes, but some servers use single quotes.
    private static func label(_ value: String) -> String? {
        let bytes = value.utf8
        let quote = UInt8(ascii: "'")
        let isQuoted = bytes.count >= 2 && bytes.first == quote && bytes.last == quote
        let label = isQuoted ? String(Substring(bytes.dropFirst().dropLast())) : value
        return label.isEmpty ? nil : label
    }

    package var isJSON: Bool { essence.hasSuffix("+json") || essence == "application/json" || essence == "text/json" }
    package var isHTML: Bool { essence == "text/html" }
    /// Whether the type is XML (RFC 7303, section 4.2).
    package var isXML: Bool { essence.hasSuffix("+xml") || essence == "application/xml" || essence == "text/xml" }

    /// Returns the ranges in the value of an `Accept` field (RFC 9110, section 12.5.1), as written.
    package static func ranges(in accept: String) -> [String] {
        var scanner = FieldScanner(accept)
        var ranges: [String] = []
        while scanner.skipToElement() { ranges.append(scanner.element()) }
        return ranges
    }

    /// The text before and after the slash; nil if the type doesn't consist of exactly two nonempty parts.
    private var halves: (type: Substring, subtype: Substring)? {
        let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else { return nil }
        return (halves[0], halves[1])
    }

    /// A Boolean value that indicates whether the essence has the form of a type, or of a range such as `*/*`.
    public var isComplete: Bool { halves != nil }

    package var isAny: Bool { essence == "*/*" }

    /// Returns whether this range includes a type. Either part can be `*`. Parameters are ignored.
    package func includes(_ other: MediaType) -> Bool {
        guard let range = halves, let other = other.halves else { return false }
        return (range.type == "*" || range.type == other.type)
            && (range.subtype == "*" || range.subtype == other.subtype)
    }

    /// Returns whether the text consists of two tokens separated by a slash, as the standard requires.
    package static func isWellFormed(_ text: String) -> Bool {
        let halves = MediaType(essence: text, charset: nil).halves
        return halves.map { String($0.type).isHTTPToken && String($0.subtype).isHTTPToken } ?? false
    }
}

extension ResponseHead {
    /// The type of the body. If the response has several `Content-Type` fields, the last one is used.
    public var mediaType: MediaType { MediaType(values(for: .contentType).last) }
}
