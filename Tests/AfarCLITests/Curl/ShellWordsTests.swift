import AfarCore
import Foundation
import Testing

@testable import AfarCLI

struct ShellWordsTests {
    /// Compares the words with those of bash.
    @Test(arguments: [
        #"a 'b c' "d e" f\ g"#, #"'a'"b"c\d'' """#, "a\\\nb \\\n c", #""\$HOME \` \" \\ \n \'""#,
        #"$'a\nb\tc\\d\'e\"f\x41\x4a\101\60\u00e9\u20ac\U0001f600\e\a\?\q'"#, "a#b c # d ' e", "100% a=b a~ =~ {a} !",
        #"$ a"$" "$'x'" $'$HOME'"#, "a\tb\t", "'\u{65E5}\u{301}' \u{1F600}", "'a\nb' \"c\nd\"",
        #"$'\x4z\xe9'x"#.replacing("\\xe9", with: ""),
    ])
    func wordsAreThoseOfBash(text: String) async throws {
        let words = try ShellWords.split("curl \(text)").dropFirst()
        let outcome = try await Tool.bash("printf '%s\\0' \(text)\n")
        #expect(
            outcome.text.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
                == Array(words))
    }

    @Test(arguments: [
        ("curl $URL", "$URL"), ("curl \"${A:-b}\"", "${A}"), ("curl $(id)", "$(…)"), ("curl \"`id`\"", "`…`"),
        ("curl a | jq", "|"), ("curl a > b", ">"), ("curl a < b", "<"), ("curl a; id", ";"), ("curl a && id", "&&"),
        ("curl http://a/?b=c&d=e", "&"), ("curl a || id", "||"), ("curl a &", "&"), ("(curl a)", "("),
        ("curl ~/a", "~"),
        ("curl a\nid", "one line"), ("curl 'a", "'"), ("curl \"a", "\""), ("curl $'a", "'"),
        ("curl $'\\u0000'", "character"),
        ("curl $'\\ud800'", "character"), ("curl $'\\xff'", "UTF-8"), ("wget a", "wget"), ("", "curl"),
        ("A=b curl a", "not \"A\""),
        ("curl $1", "$1"), ("curl \"$@\"", "$@"), ("curl ^\"a^\" & id", "&"), ("curl ^\"a^\"\nid", "line"),
    ])
    func whatAShellWouldRunIsRefused(command: String, part: String) {
        let translation = CurlTranslation(command: command) { _ in Data() }
        #expect(translation.commands.isEmpty)
        #expect(translation.problems.count == 1 && translation.problems[0].contains(part), "\(translation.problems)")
    }

    /// Random text never fails in another way than by problems, and quoted words are returned unchanged.
    @Test func randomText() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "curl", " ", "'", "\"", "\\", "$", "$'", "^", "^\"", "\n", "\r\n", "#", ";", "|", "&", "~", "`", "(", "{",
            "}", "[", "]", "-d",
            "-H", "-F", "-", "--", "-x", "--resolve", "a:1:b", "@", "=", ":", "é", "\u{301}", "\u{1F600}", "\0", "\\u",
            "\\x4", "http://",
            "x.example", "--json", "-G", "-I", "-o", "%", "--cert", "-u", "-z", "--data-urlencode", "--pinnedpubkey",
            "--noproxy",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<30, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let translation = CurlTranslation(command: Bool.random() ? "curl \(text)" : text) { _ in Data(text.utf8) }
            #expect(translation.commands.isEmpty != translation.problems.isEmpty, "\(text.debugDescription)")
            guard !text.contains("\0") else { continue }
            let words = try? ShellWords.split("curl \(ShellWord.quoted(text)) x")
            #expect(words == ["curl", text, "x"])
        }
    }

    @Test func combiningCharactersDoNotHideTheEndOfTheScheme() {
        let translation = CurlTranslation(command: "curl 'http://\u{301}?://' 'http://x/\u{301}/../?/../'") { _ in
            Data()
        }
        #expect(translation.problems.isEmpty && translation.commands.count == 2)
    }

    /// Work per byte stays the same, measured by the ratio of long to short inputs.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "\\a", "'a'", "$'\\n'", "\n", "^\"", "^\n\n", "\\\"", "a ", "# ", ";", "-d a ", "$", "x.example/{ ",
        ])
    func longTextTakesLinearTime(piece: String) {
        let length = 500_000 / piece.utf8.count
        for prefix in ["curl ", "curl ^\"", "curl '", "curl \""] {
            _ = try? ShellWords.split(prefix + String(repeating: piece, count: length))
        }
    }
}
