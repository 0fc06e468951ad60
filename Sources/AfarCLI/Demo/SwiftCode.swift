/// Swift code in colours: keywords, types, texts, numbers and comments.
enum SwiftCode {
    static func painted(_ code: String, style: Style) -> String {
        guard style.isColoured else { return code }
        var rest = code[...]
        var output = ""
        while let first = rest.first {
            let token = token(at: rest, startingWith: first)
            output += paint(for: token).map { style.paint(token, $0) } ?? String(token)
            rest = rest[token.endIndex...]
        }
        return output
    }

    private static func token(at rest: Substring, startingWith first: Character) -> Substring {
        if rest.hasPrefix("//") { return rest.prefix { !$0.isNewline } }
        if first == "\"" {
            let end = rest.dropFirst().firstIndex { $0 == "\"" || $0.isNewline }
            return end.map { rest[...$0] } ?? rest
        }
        if isWordCharacter(first) { return rest.prefix(while: isWordCharacter) }
        return rest.prefix(1)
    }

    private static func isWordCharacter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    private static func paint(for token: Substring) -> Style.Paint? {
        guard let first = token.first else { return nil }
        if token.hasPrefix("//") { return .dim }
        if first == "\"" { return .green }
        if first.isNumber { return .yellow }
        if keywords.contains(token) { return .magenta }
        return first.isUppercase ? .cyan : nil
    }

    private static let keywords: Set<Substring> = [
        "await", "case", "else", "false", "for", "func", "guard", "if", "in", "let", "nil", "of", "return", "self",
        "struct", "true", "try", "var",
    ]
}
