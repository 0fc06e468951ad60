import Foundation
import Testing

struct CompletionTests {
    /// Returns bash's completions for the last word of a command line.
    private func completions(_ line: String, in directory: ScratchDirectory) async throws -> [String] {
        let outcome = try await Tool.bash(
            """
            cd '\(directory.url.path)' || exit 1
            compopt() { :; }
            source <("$afar" --generate-completion-script bash)
            COMP_LINE=\(line.debugDescription) COMP_POINT=\(line.utf8.count)
            COMP_WORDS=(\(line)\(line.hasSuffix(" ") ? "''" : "")) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _afar afar "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(outcome.errors == "")
        return outcome.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test(arguments: [
        ("afar dow", ["download"]), ("afar get :1 --tim", ["--timeout", "--timing"]),
        ("afar get :1 --transport ", ["afar", "curl", "urlsession"]), ("afar post :1 --color n", ["never"]),
        ("afar download :1 -o no", ["note.txt"]),
        ("afar upload :1 --file no", ["note.txt"]), ("afar get :1 --st", ["--stream"]), ("afar up", ["upload"]),
        ("afar upload :1 --p", ["--part", "--passphrase-file", "--pin", "--print", "--progress", "--proxy"]),
        ("afar xml :1 --x", ["--xpath"]), ("afar get :1 --ses", ["--session", "--session-read-only"]),
        ("afar get :1 --default-h", []), ("afar get :1 --no-c", ["--no-config"]),
        ("afar bench :1 --ra", ["--rate", "--raw"]), ("afar diff :1 :2 --all", ["--all-fields"]),
        ("afar download :1 --no", ["--no-config", "--no-follow", "--no-progress"]),
        (
            "afar download :1 --re",
            ["--record", "--replay", "--report", "--resume", "--retry", "--retry-all", "--retry-delay"]
        ),
    ])
    func bashCompletesCommandsOptionsValuesAndFiles(line: String, words: [String]) async throws {
        let directory = try ScratchDirectory()
        try directory.write("", to: "note.txt")
        #expect(try await completions(line, in: directory).sorted() == words)
    }

    @Test func bashOffersTheCommandsFirst() async throws {
        let words = try await completions("afar ", in: ScratchDirectory())
        #expect(Set(words).isSuperset(of: ["get", "request", "download", "serve", "help"]), "\(words)")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func everyShellHasAScript(shell: String) async throws {
        let outcome = try await Tool.run("--generate-completion-script", shell)
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("no-progress"))
    }
}
