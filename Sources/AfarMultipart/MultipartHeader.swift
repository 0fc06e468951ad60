import Foundation

/// The header fields of a part.
public struct MultipartHeader: Hashable, Sendable {
    /// A header field.
    public struct Field: Hashable, Sendable {
        /// The name as written.
        public let name: String
        /// The value, without surrounding white space.
        public let value: String
    }

    /// All fields, in order.
    public let fields: [Field]

    /// Returns the value of the first field with a name. The case of names doesn't matter.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return fields.first { $0.name.lowercased() == name }?.value
    }

    /// The media type of the part, without parameters, in lowercase. The default is `text/plain` (RFC 2046, section 5.1).
    public var mediaType: String {
        let type = FieldParameters(self["Content-Type"] ?? "").value.lowercased()
        return type.isEmpty ? "text/plain" : type
    }

    /// The name of the form field (RFC 7578, section 4.2).
    public var name: String? { disposition["name"].map(Self.unescaped) }

    /// The file name, without folders and control characters (RFC 7578, section 4.2). Nil if the result is empty, `.` or `..`.
    public var fileName: String? {
        let name = disposition["filename*"].flatMap(Self.decoded) ?? disposition["filename"].map(Self.unescaped)
        let last = name?.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map { part in
            String(String.UnicodeScalarView(part.unicodeScalars.filter { $0.properties.generalCategory != .control }))
        }
        return last.flatMap { ["", ".", ".."].contains($0) ? nil : $0 }
    }

    /// The positions of the part's first and last bytes in the whole representation (RFC 9110, section 14.4). Nil if the part has no valid
    /// `Content-Range`.
    public var contentRange: ClosedRange<Int64>? {
        guard let value = self["Content-Range"]?.lowercased(), value.hasPrefix("bytes ") else { return nil }
        let bounds = value.dropFirst(6).prefix { $0 != "/" }.split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Int64(bounds[0]), let last = Int64(bounds[1]), first >= 0, first <= last
        else { return nil }
        return first...last
    }

    /// Restores the quotation marks and line breaks that browsers escape (HTML Standard, "Multipart form data").
    private static func unescaped(_ text: String) -> String {
        text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }

    private var disposition: FieldParameters { FieldParameters(self["Content-Disposition"] ?? "") }

    /// Decodes an extended value such as `UTF-8''na%C3%AFve` (RFC 8187, section 3.2).
    private static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return parts[2].removingPercentEncoding
    }

    /// Parses the lines of the fields. Returns nil if a line isn't a field.
    init?(_ bytes: Data) {
        guard let text = String(data: bytes, encoding: .utf8) ?? String(data: bytes, encoding: .isoLatin1) else {
            return nil
        }
        var fields: [Field] = []
        for line in text.components(separatedBy: "\r\n") where !line.isEmpty {
            if line.first == " " || line.first == "\t" {
                // The line continues the previous line (RFC 822).
                guard let last = fields.popLast() else { return nil }
                fields.append(
                    Field(name: last.name, value: last.value + " " + line.trimmingCharacters(in: .whitespaces)))
                continue
            }
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
            let name = line[..<colon]
            guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields.append(Field(name: String(name), value: value))
        }
        self.fields = fields
    }
}

/// The value of a field and its parameters, such as `form-data; name="a"`.
struct FieldParameters {
    let value: String
    private var parameters: [String: String] = [:]

    subscript(name: String) -> String? { parameters[name] }

    init(_ text: String) {
        var rest = text[...]
        value = Self.take(from: &rest).trimmingCharacters(in: .whitespaces)
        while !rest.isEmpty {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest[name.endIndex...]
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst()
            let value = rest.first == "\"" ? Self.takeQuoted(from: &rest) : Self.take(from: &rest)
            rest = rest.drop { $0 != ";" }
            let key = name.trimmingCharacters(in: .whitespaces).lowercased()
            if parameters[key] == nil { parameters[key] = value }
        }
    }

    private static func take(from rest: inout Substring) -> String {
        let text = rest.prefix { $0 != ";" }
        rest = rest[text.endIndex...]
        return text.trimmingCharacters(in: .whitespaces)
    }

    /// Reads a quoted string. A backslash escapes only a quotation mark or a backslash, because browsers don't escape the backslashes of
    /// Windows paths.
    private static func takeQuoted(from rest: inout Substring) -> String {
        rest = rest.dropFirst()
        var text = ""
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\", let next = rest.first, next == "\"" || next == "\\" {
                text.append(next)
                rest = rest.dropFirst()
            } else {
                text.append(character)
            }
        }
        return text
    }
}
