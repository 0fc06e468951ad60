/// Text as a word of a POSIX shell's command line.
enum ShellWord {
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-")

    /// The word, in single quotes where it needs any.
    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.allSatisfy(plain.contains) { return text }
        return "'\(text.replacing("'", with: #"'\''"#))'"
    }
}
