/// Extends the parser's completion script, which offers no options after `afar URL`, a request without a command.
enum CompletionScript {
    /// Returns the script with an additional step: without a command, the words are completed like those of `afar request`.
    static func completing(_ script: String, commands: [String]) -> String {
        let commands = commands + ["help"]
        if script.hasPrefix("#compdef") {
            return adding(zsh(commands), after: "\n_afar() {\n", to: completingOptionsBeforeArguments(script))
        }
        if script.hasPrefix("#!/bin/bash") { return adding(bash(commands), after: "\n_afar() {\n", to: script) }
        return adding(fish(commands), after: "\n    set -l unparsed_tokens (__afar_tokens -pc)\n", to: script)
    }

    private static func adding(_ step: String, after line: String, to script: String) -> String {
        guard let range = script.firstRange(of: line) else { return script }
        return script[..<range.upperBound] + step + script[range.upperBound...]
    }

    /// Returns a script for zsh in which arguments have an action. Without an action, zsh inserts no option until all arguments have been
    /// written.
    private static func completingOptionsBeforeArguments(_ script: String) -> String {
        script.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.wholeMatch(of: /\s+'\*?:[^:']+:'/) != nil else { return String(line) }
            return line.dropLast() + (line.hasSuffix(":url:'") ? "_urls'" : "{ false }'")
        }.joined(separator: "\n")
    }

    private static func bash(_ commands: [String]) -> String {
        """
            if [[ "${COMP_CWORD}" -gt 1 || "${2}" == -* ]]; then
                case "${COMP_WORDS[1]}" in
                \(commands.joined(separator: "|"))) ;;
                *)
                    COMP_WORDS=("${COMP_WORDS[0]}" request "${COMP_WORDS[@]:1}")
                    COMP_CWORD=$((COMP_CWORD + 1))
                    ;;
                esac
            fi

        """
    }

    private static func zsh(_ commands: [String]) -> String {
        """
            if (( CURRENT > 2 )) || [[ "${words[2]}" == -* ]]; then
                case "${words[2]}" in
                \(commands.joined(separator: "|"))) ;;
                *)
                    words=("${words[1]}" request "${(@)words[2,-1]}")
                    (( CURRENT++ ))
                    ;;
                esac
            fi

        """
    }

    private static func fish(_ commands: [String]) -> String {
        """
            if test (count $unparsed_tokens) -gt 1; or string match -q -- '-*' (commandline -ct)
                if not contains -- "$unparsed_tokens[2]" \(commands.joined(separator: " "))
                    set unparsed_tokens $unparsed_tokens[1] request $unparsed_tokens[2..]
                end
            end

        """
    }
}
