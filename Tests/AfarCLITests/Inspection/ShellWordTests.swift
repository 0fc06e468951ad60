import AfarCore
import Testing

/// Quoted arguments, parsed by a real shell.
struct ShellWordTests {
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
