import Foundation

/// The format of a text in which secrets are recognized by their names.
enum TextFormat {
    case json, xml, html, form
    /// The text determines the format.
    case unspecified

    /// Returns `nil` for media types without names.
    ///
    /// - Parameter type: The value of `Content-Type` in lowercase.
    init?(type: String) {
        if type.isEmpty || type.hasPrefix("text/plain") {
            self = .unspecified
        } else if type.contains("json") || type.hasPrefix("text/event-stream") {
            self = .json
        } else if type.contains("html") {
            self = .html
        } else if type.contains("xml"), !type.contains("openxmlformats") {
            self = .xml
        } else if type.hasPrefix("application/x-www-form-urlencoded") {
            self = .form
        } else {
            return nil
        }
    }

    /// The beginnings of the names of charsets that extend ASCII or are recognized by the text's first bytes.
    private static let readableCharsets = [
        "utf-8", "utf8", "utf-16", "utf16", "utf-32", "utf32", "us-ascii", "ascii", "iso-8859", "iso8859", "latin",
        "windows-125",
        "cp125", "koi8", "shift_jis", "shift-jis", "sjis", "euc-", "gb", "big5", "macintosh", "tis-620",
    ]

    /// Returns whether names in ASCII can be found in text with the charset of a type.
    static func isReadable(_ type: String) -> Bool {
        HeaderParameters.values(of: "charset", in: type).allSatisfy { charset in
            readableCharsets.contains { charset.hasPrefix($0) }
        }
    }

    /// Returns the format of a text in UTF-8 or a similar encoding.
    func resolved(for text: Data) -> TextFormat {
        guard case .unspecified = self else { return self }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = (text.starts(with: byteOrderMark) ? text.dropFirst(3) : text).drop { $0 <= 0x20 }
        switch text.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
        case UInt8(ascii: "<"):
            let start = String(decoding: text.prefix(14), as: UTF8.self).lowercased()
            return start.hasPrefix("<!doctype html") || start.hasPrefix("<html") ? .html : .xml
        default: return self
        }
    }
}

/// The head of a part of a multipart body.
struct MultipartHead {
    /// The names of the header fields.
    let fieldNames: [String]
    /// The names of the part. More than one is invalid.
    let names: [String]
    /// The media type, or an empty string if it is missing.
    let type: String
    /// Whether the content is of the type, without another encoding, and isn't a message with a head of its own.
    let isReadable: Bool

    init(_ head: String) {
        // A line that begins with white space continues the previous one (RFC 5322, section 2.2.3).
        let lines = head.split(whereSeparator: \.isNewline).reduce(into: [String]()) { lines, line in
            if !lines.isEmpty, line.first == " " || line.first == "\t" {
                lines[lines.count - 1] += line
            } else {
                lines.append(String(line))
            }
        }
        let fields = lines.map { line in
            let label = line.prefix { $0 != ":" }
            return (
                name: label.trimmingCharacters(in: .whitespaces).lowercased(),
                value: line.dropFirst(label.count + 1).trimmingCharacters(in: .whitespaces)
            )
        }
        fieldNames = fields.map(\.name)
        func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
        let extended = { (value: String) in
            // The value follows the charset and the language (RFC 8187, section 3.2).
            let text = value.split(separator: "'", omittingEmptySubsequences: false).last.map(String.init) ?? value
            return text.removingPercentEncoding ?? text
        }
        names = values("content-disposition").flatMap { field in
            HeaderParameters.values(of: "name", in: field)
                + HeaderParameters.values(of: "name*", in: field).map(extended)
        }
        let types = values("content-type")
        let first = types.first ?? ""
        type = first
        isReadable =
            types.count <= 1 && !["application/http", "message/"].contains { first.lowercased().hasPrefix($0) }
            && values("content-transfer-encoding").allSatisfy { ["7bit", "8bit", "binary"].contains($0.lowercased()) }
    }
}
