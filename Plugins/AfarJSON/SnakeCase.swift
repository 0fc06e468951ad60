import Foundation

/// Names with underscores between their words, as `JSONDecoder` converts them.
enum SnakeCase {
    /// `user_name` becomes `userName`; underscores at the beginning and the end stay.
    static func camelCase(of name: String) -> String {
        let underscore = UInt8(ascii: "_")
        let bytes = name.utf8
        guard bytes.contains(underscore), let first = bytes.firstIndex(where: { $0 != underscore }),
            let last = bytes.lastIndex(where: { $0 != underscore })
        else { return name }
        let words = name[first...last].split(separator: "_")
        guard words.count > 1 else { return name }
        return name[..<first] + words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
            + name[bytes.index(after: last)...]
    }
}
