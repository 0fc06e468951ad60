import Foundation

/// Safe names for files from untrusted sources.
package enum FileName {
    /// The maximum length in bytes. Most file systems allow 255 bytes, so there is room for a suffix.
    static let longest = 200

    /// Returns the file name that a response suggests. If it suggests no usable name, returns the last component of the URL's
    /// path, or "download".
    package static func suggested(contentDisposition: String?, url: String) -> String {
        let names = contentDisposition.map { ContentDisposition($0).fileNames } ?? []
        return names.lazy.compactMap(safe).first ?? lastComponent(of: url).flatMap(safe) ?? "download"
    }

    /// Returns a name that stays in its directory, isn't hidden, isn't mistaken for a command-line option, and contains no
    /// terminal control characters. Returns nil if no characters remain.
    static func safe(_ name: String) -> String? {
        // Split the Unicode scalars, because a file system recognizes a slash even if a combining character follows it.
        let parts = name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
        let shown = (parts.last.map(Array.init) ?? []).filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        let visible = shown.drop { ".-~".unicodeScalars.contains($0) || $0.properties.isWhitespace }
        let trimmed = visible.reversed().drop { $0 == "." || $0.properties.isWhitespace }.reversed()
        return trimmed.isEmpty ? nil : shortened(String(String.UnicodeScalarView(trimmed)))
    }

    private static func lastComponent(of url: String) -> String? {
        let afterScheme = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let path = afterScheme.drop { !"/?#".contains($0) }.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map { String($0).removingPercentEncoding ?? String($0) }
    }

    /// Returns at most ``longest`` bytes of the name, with the extension preserved.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let dot = name.lastIndex(of: ".")
        let ending = dot.map { String(name[$0...]) }.flatMap { $0.utf8.count <= 20 ? $0 : nil } ?? ""
        var start = String(name.dropLast(ending.count))
        while start.utf8.count + ending.utf8.count > longest { start.unicodeScalars.removeLast() }
        return start + ending
    }
}

/// The file names in a Content-Disposition header (RFC 6266).
package struct ContentDisposition {
    /// The decoded names as the server sent them, the preferred one first. The names can contain any characters.
    package let fileNames: [String]

    package init(_ value: String) {
        let parameters = Self.parameters(value)
        // The extended form takes precedence (RFC 6266, section 4.3).
        fileNames = [parameters["filename*"].flatMap(Self.extendedValue), parameters["filename"]].compactMap { $0 }
    }

    /// Returns the parameters after the disposition type. If several parameters have the same name, the first one is used.
    private static func parameters(_ value: String) -> [String: String] {
        var scanner = FieldScanner(value)
        var parameters: [String: String] = [:]
        while let parameter = scanner.parameter() {
            if parameters[parameter.name] == nil { parameters[parameter.name] = parameter.value }
        }
        return parameters
    }

    /// Decodes a value such as "UTF-8'en'%e2%82%ac%20rates" (RFC 8187, section 3.2). Returns nil if the charset is missing or
    /// isn't one of the two supported charsets.
    private static func extendedValue(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecoded(parts[2]) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(bytes: bytes, encoding: .utf8)
        case "iso-8859-1": return String(bytes: bytes, encoding: .isoLatin1)
        default: return nil
        }
    }

    private static func percentDecoded(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
