import Testing

@testable import AfarCore

struct ShellWordTests {
    @Test(arguments: [
        ("plain", "plain"), ("http://x:1/a,b=c@d%20", "http://x:1/a,b=c@d%20"), ("", "''"), ("a b", "'a b'"),
        ("it's", #"'it'\''s'"#), ("'", #"''\'''"#), ("$(id)`id`", "'$(id)`id`'"), ("a\nb", "'a\nb'"), ("ü", "'ü'"),
        ("~", "'~'"), ("a?b&c", "'a?b&c'"), ("*", "'*'"), ("#x", "'#x'"),
    ])
    func quotesWhereNeeded(text: String, word: String) {
        #expect(ShellWord.quoted(text) == word)
    }
}
