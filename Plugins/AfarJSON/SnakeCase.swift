import Foundation

/// Names with underscores between their words, as `JSONDecoder` converts them.
enum SnakeCase {
    /// `user_name` becomes `userName`; underscores at the beginning and the end stay.
    static func camelCase(of name: String) -> String {
        guard let first = name.firstIndex(where: { $0 != "_" }), let last = name.lastIndex(where: { $0 != "_" }) else {
            return name
        }
        let words = name[first...last].split(separator: "_")
        guard words.count > 1 else { return name }
        return name[..<first] + words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
            + name[name.index(after: last)...]
    }
}
