import Testing

@testable import AfarCLI

struct ShellWordTests {
    @Test(arguments: [
        ("plain", "plain"), ("http://x:1/a,b=c@d%20", "http://x:1/a,b=c@d%20"), ("", "''"), ("a b", "'a b'"),
        ("it's", #"'it'\''s'"#), ("'", #"''\'''"#), ("$(id)`id`", "'$(id)`id`'"), ("a\nb", "'a\nb'"), ("ü", "'ü'"),
        ("~", "'~'"), ("a?b&c", "'a?b&c'"), ("*", "'*'"), ("#x", "'#x'"),
    ])
    func quotesWhereNeeded(text: String, word: String) {
        #expect(ShellWord.quoted(text) == word)
    }

    @Test(arguments: [
        "", "'", "''a'", #"\"#, #"\'"#, "$HOME `id` $(id) !! ~ * ? [a] {a,b}", "a\nb\n", "\t x \r", "日本語 ü \u{1F600}",
        "-n", "%s", "'\u{301}$(exit 1)'\u{200D}", "a\u{301}",
    ])
    func theShellReadsTheSame(text: String) async throws {
        let word = ShellWord.quoted(text)
        let outcome = try await Tool.sh("printf '%s.' \(word); printf '%s.' x\(word)y")
        #expect(outcome.text == "\(text).x\(text)y.")
    }
}
