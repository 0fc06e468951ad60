import HTTPTypes

/// A media type (RFC 9110, section 8.3.1) or a range of them (section 12.5.1), as far as Afar looks at one.
package struct MediaType: Sendable, Hashable {
    /// The type without its parameters, in lower case, "text/html" say. It may be anything; empty when there is none.
    package let essence: String
    /// The charset as it stands there, unquoted; nil when there is none.
    package let charset: String?

    package init(essence: String, charset: String?) {
        self.essence = essence
        self.charset = charset
    }

    /// Reads the value of a Content-Type, and whatever else servers write there. Of several it is the first.
    package init(_ value: String?) {
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

    /// Single quotes are no quotes in HTTP, but are written too.
    private static func label(_ value: String) -> String? {
        let bytes = value.utf8
        let quote = UInt8(ascii: "'")
        let isQuoted = bytes.count >= 2 && bytes.first == quote && bytes.last == quote
        let label = isQuoted ? String(Substring(bytes.dropFirst().dropLast())) : value
        return label.isEmpty ? nil : label
    }

    package var isJSON: Bool { essence.hasSuffix("+json") || essence == "application/json" || essence == "text/json" }
    package var isHTML: Bool { essence == "text/html" }
    /// RFC 7303, section 4.2.
    package var isXML: Bool { essence.hasSuffix("+xml") || essence == "application/xml" || essence == "text/xml" }

    // MARK: Ranges

    /// The ranges in the value of an Accept (RFC 9110, section 12.5.1), as they stand there.
    package static func ranges(in accept: String) -> [String] {
        var scanner = FieldScanner(accept)
        var ranges: [String] = []
        while scanner.skipToElement() { ranges.append(scanner.element()) }
        return ranges
    }

    /// What stands before and after the slash; nil where that is not all there is.
    private var halves: (type: Substring, subtype: Substring)? {
        let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else { return nil }
        return (halves[0], halves[1])
    }

    /// Whether this is a type or a range at all.
    package var isComplete: Bool { halves != nil }

    /// Whether this stands for every type.
    package var isAny: Bool { essence == "*/*" }

    /// Whether a type is in this range: either half may be `*`. Parameters don't count.
    package func includes(_ other: MediaType) -> Bool {
        guard let range = halves, let other = other.halves else { return false }
        return (range.type == "*" || range.type == other.type)
            && (range.subtype == "*" || range.subtype == other.subtype)
    }

    /// Whether both halves are tokens, as the standard has it, and nothing follows.
    package static func isWellFormed(_ text: String) -> Bool {
        let halves = MediaType(essence: text, charset: nil).halves
        return halves.map { String($0.type).isHTTPToken && String($0.subtype).isHTTPToken } ?? false
    }
}

extension ResponseHead {
    /// The type of the body. Where a server names several it is the last.
    package var mediaType: MediaType { MediaType(values(for: .contentType).last) }
}
