/// Text as a word of a POSIX shell's command line.
package enum ShellWord {
    private static let plain = Set<Unicode.Scalar>(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-".unicodeScalars)

    /// The word, in single quotes where it needs any.
    package static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.unicodeScalars.allSatisfy(plain.contains) { return text }
        // By scalars: to a shell a quote is one whatever combines with it.
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += #"'\''"# } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}
