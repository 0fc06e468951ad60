import Foundation

/// Names for files that come from elsewhere.
enum FileName {
    /// Leaves room for what a file system or a person puts after it; most take 255 bytes.
    static let longest = 200

    /// The name that a response gives to its file, else the last part of the URL's path, else "download".
    static func suggested(contentDisposition: String?, url: String) -> String {
        let named = contentDisposition.flatMap { ContentDisposition($0).fileName }.flatMap(safe)
        return named ?? lastComponent(of: url).flatMap(safe) ?? "download"
    }

    /// A name that stays in its directory, is not hidden, is no option to other programs, and steers no terminal; nil
    /// when nothing is left of it.
    static func safe(_ name: String) -> String? {
        let last = name.split(omittingEmptySubsequences: false) { "/\\".contains($0) }.last ?? ""
        let scalars = last.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        let text = String(String.UnicodeScalarView(scalars)).trimmingCharacters(in: .whitespaces)
        let visible = text.drop { ".-~".contains($0) || $0.isWhitespace }
        let trimmed = visible.reversed().drop { $0 == "." || $0.isWhitespace }.reversed()
        return trimmed.isEmpty ? nil : shortened(String(trimmed))
    }

    private static func lastComponent(of url: String) -> String? {
        let afterScheme = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let path = afterScheme.drop { !"/?#".contains($0) }.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map { String($0).removingPercentEncoding ?? String($0) }
    }

    /// At most ``longest`` bytes, with the extension kept.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let dot = name.lastIndex(of: ".")
        let ending = dot.map { String(name[$0...]) }.flatMap { $0.utf8.count <= 20 ? $0 : nil } ?? ""
        var start = String(name.dropLast(ending.count))
        while start.utf8.count + ending.utf8.count > longest { start.unicodeScalars.removeLast() }
        return start + ending
    }
}
