import Foundation

/// Content types by the extensions of file names.
package enum MIMETypes {
    /// The content type that a file's name suggests; `application/octet-stream` when it suggests none.
    ///
    /// The common extensions are known. For others the system's list is asked, where there is one; it is read when it is
    /// first needed, and once.
    package static func type(ofFileNamed name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return unknown }
        let pathExtension = name[name.index(after: dot)...].lowercased()
        return common[pathExtension] ?? system[pathExtension] ?? unknown
    }

    private static let unknown = "application/octet-stream"
    private static let system = list(in: URL(fileURLWithPath: "/etc/mime.types"))

    /// The types by extension in a file of the `mime.types` kind; none if it cannot be read.
    static func list(in file: URL) -> [String: String] {
        let file = file.resolvingSymlinksInPath()
        // What is no plain file might never end.
        guard let values = try? file.resourceValues(forKeys: [.isRegularFileKey]), values.isRegularFile == true,
            let data = try? Data(contentsOf: file)
        else { return [:] }
        return parse(String(decoding: data, as: UTF8.self))
    }

    /// Reads lines of a type and its extensions, `#` beginning a comment. The first type of an extension counts.
    static func parse(_ text: String) -> [String: String] {
        var types: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let type = words.first, MediaType.isWellFormed(type) else { continue }
            for pathExtension in words.dropFirst().map({ $0.lowercased() }) where types[pathExtension] == nil {
                types[pathExtension] = type
            }
        }
        return types
    }
}
