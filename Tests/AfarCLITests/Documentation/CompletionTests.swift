import Foundation
import Testing

struct CompletionTests {
    /// The script for bash, which takes a second to generate.
    private static let bashScript = Task { try await Tool.run("--generate-completion-script", "bash").text }

    /// Returns bash's completions for the last word of a command line.
    private func completions(_ line: String, in directory: ScratchDirectory) async throws -> [String] {
        try await directory.write(Self.bashScript.value, to: "afar.bash")
        let outcome = try await Tool.bash(
            """
            cd '\(directory.url.path)' || exit 1
            compopt() { :; }
            source ./afar.bash
            COMP_LINE=\(line.debugDescription) COMP_POINT=\(line.utf8.count)
            COMP_WORDS=(\(line)\(line.hasSuffix(" ") ? "''" : "")) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _afar afar "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(outcome.errors == "")
        return outcome.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test(arguments: [
        ("afar :1 --tim", ["--timeout", "--timing"]), ("afar --tim", ["--timeout", "--timing"]),
        ("afar PUT :1 a=b --transport ", ["afar", "curl", "urlsession"]), ("afar -i :1 --color n", ["never"]),
        ("afar :1 -o no", ["note.txt"]), ("afar -X PUT :1 --hea", ["--head", "--header", "--headers"]),
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

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/fish"), "fish isn't installed."))
    func fishCompletesOptionsWithoutACommand() async throws {
        let directory = try ScratchDirectory()
        let outcome = try await Tool.bash(
            """
            "$afar" --generate-completion-script fish > afar.fish
            HOME=$PWD fish --no-config -c '
            source afar.fish
            for line in "afar :1 --timi" "afar --timi" "afar get :1 --timi" "afar dow" "afar PUT :1 --auth "
                complete -C "$line" | string split -f 1 \\t | string join " "
            end'
            """, directory: directory.url)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "--timing", "--timing", "--timing", "download", "basic digest ntlm negotiate",
            ], "\(outcome.text) \(outcome.errors)")
    }

    /// zsh completes only on a terminal, so this test presses Tab, and then Ctrl-X, which prints the line.
    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zsh"), "zsh isn't installed."),
        .timeLimit(.minutes(10)))
    func zshCompletesOptionsWithoutACommand() async throws {
        let directory = try ScratchDirectory()
        let outcome = try await Tool.bash(
            #"""
            "$afar" --generate-completion-script zsh > _afar
            cat > test.zsh <<'END'
            zmodload zsh/zpty
            for line in 'afar :1 --timi' 'afar --timi' 'afar PUT :1 a=b --transport ur' 'afar get --timi' 'afar dow'; do
                zpty shell zsh -f -i
                zpty -w shell "PS1=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D"
                zpty -w shell 'show() { print -r -- "<$BUFFER>"; BUFFER=; zle accept-line }; zle -N show; bindkey "^X" show'
                zpty -w shell "print rea''dy"
                zpty -r shell output '*ready*'
                zpty -n -w shell "$line"$'\t\x18'
                zpty -r shell output '*<*>*'
                print -r -- "${${output##*<}%%>*}"
                zpty -d shell
            done
            END
            timeout 120 zsh -f test.zsh
            """#, directory: directory.url)
        #expect(
            outcome.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } == [
                "afar :1 --timing", "afar --timing", "afar PUT :1 a=b --transport urlsession", "afar get --timing",
                "afar download",
            ], "\(outcome.text) \(outcome.errors)")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func everyShellHasAScript(shell: String) async throws {
        let outcome = try await Tool.run("--generate-completion-script", shell)
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("no-progress"))
    }
}
