import ArgumentParser

/// Shortens the help of a command for `-h`: only the options that most requests use, each with one sentence.
enum ShortHelp {
    private static let options: Set = [
        "--method", "--header", "--data", "--raw", "--part", "--as", "--user", "--bearer", "--cookie", "--session",
        "--timeout", "--proxy", "--insecure", "--include", "--print", "--offline", "--fail", "--write-out", "--output",
        "--remote-name", "--verbose", "--curl", "--concurrency", "--duration", "--requests", "--rate", "--file",
        "--resume", "--force", "--xpath", "--html", "--resize",
    ]
    /// The column in which the parser begins the descriptions of options.
    private static let column = 26
    /// Help with up to this number of lines is shown completely.
    private static let longestHelp = 60

    /// Returns the text that replaces the parser's help.
    static func text(for help: String, arguments: some Collection<String>) -> String {
        guard arguments.contains("-h"), !arguments.contains("--help") else { return help }
        if arguments.count == 1 {
            let commands = TextLayout.wrapped(AfarTool.commandNames.joined(separator: ", "), indent: "  ")
            return shortened(RequestCommand<AnyRequest>.helpMessage(columns: TextLayout.width))
                + "\n\nCOMMANDS (afar COMMAND -h):\n\(commands)\n\nFor everything, run afar --help and afar request --help."
        }
        guard help.split(separator: "\n").count > longestHelp else { return help }
        return shortened(help) + "\n\nFor all options, run this command with --help."
    }

    private static func shortened(_ help: String) -> String {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let start = lines.firstIndex { $0.hasPrefix("USAGE:") } ?? lines.startIndex
        let end = lines[start...].firstIndex(of: "") ?? lines.endIndex
        var blocks: [[String]] = []
        for line in lines[end...] {
            if line.hasPrefix("  -") {
                blocks.append([line])
            } else if line.hasPrefix(String(repeating: " ", count: column)), !blocks.isEmpty {
                blocks[blocks.count - 1].append(line)
            }
        }
        return (lines[..<end] + ["", "MOST USED OPTIONS:"] + blocks.compactMap(option)).joined(separator: "\n")
    }

    /// Returns the names of an option and the first sentence about it, or nil for a rarely used one.
    private static func option(_ lines: [String]) -> String? {
        let first = Array(lines[0])
        let isOnOneLine = first.count > column && first[column - 1] == " "
        let names = String(isOnOneLine ? first[..<column] : first[...]).split(separator: "<")[0]
            .split(whereSeparator: { " ,".contains($0) })
        guard names.contains(where: { options.contains(String($0)) }) else { return nil }
        let description = (isOnOneLine ? [String(first[column...])] : []) + lines.dropFirst()
        let words = description.joined(separator: " ").split(separator: " ").joined(separator: " ")
        let sentence = words.firstRange(of: /[.:]\s/).map { words[..<$0.lowerBound] + "." } ?? words
        let label = "  " + names.joined(separator: ", ")
        return TextLayout.wrapped(
            sentence, indent: String(repeating: " ", count: column),
            first: label + String(repeating: " ", count: max(1, column - label.count)))
    }
}
