import Foundation

/// Names for files that come from elsewhere.
package enum FileName {
    /// Leaves room for what a file system or a person puts after it; most take 255 bytes.
    static let longest = 200

    /// The name that a response gives to its file, else the last part of the URL's path, else "download".
    package static func suggested(contentDisposition: String?, url: String) -> String {
        let names = contentDisposition.map { ContentDisposition($0).fileNames } ?? []
        return names.lazy.compactMap(safe).first ?? lastComponent(of: url).flatMap(safe) ?? "download"
    }

    /// A name that stays in its directory, is not hidden, is no option to other programs, and steers no terminal; nil
    /// when nothing is left of it.
    static func safe(_ name: String) -> String? {
        // By scalars: to a file system a slash is one whatever combines with it.
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
