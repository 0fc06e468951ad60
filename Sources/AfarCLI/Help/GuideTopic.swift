import Foundation

/// The topics of `afar help`: sections of the guide, which is part of the executable.
enum GuideTopic {
    /// The topics and the headings of their sections.
    static let headings: KeyValuePairs = [
        "requests": "Requests", "items": "Items", "output": "Output", "tasks": "Everyday tasks",
        "redirects": "Redirects and retries", "bodies": "Request bodies",
        "timing": "Timing", "cookies": "Cookies and caching", "sessions": "Sessions", "config": "Default options",
        "network": "Proxies, sockets and protocols", "tls": "TLS and authentication",
        "logging": "Verbose output and recordings", "reports": "Reports", "load": "Load tests",
        "comparing": "Comparing responses", "curl": "curl commands", "xpath": "XML and HTML",
        "images": "Images", "downloads": "Downloads", "uploads": "Uploads", "streams": "Streams",
        "reachability": "Reachability", "sockets": "WebSockets and raw connections",
        "exit-codes": "Scripts and exit codes", "completions": "Completions and manual",
    ]

    /// Other words for topics.
    private static let synonyms = [
        "errors": "exit-codes", "forms": "bodies", "har": "logging", "headers": "items", "httpie": "tasks",
        "json": "bodies", "proxy": "network", "retry": "redirects", "secrets": "logging", "timeout": "redirects",
        "timeouts": "redirects",
    ]

    static var names: [String] { headings.map(\.key) }

    /// The topics on lines for the help.
    static var list: String { TextLayout.wrapped(names.joined(separator: ", "), indent: "  ") }

    /// Returns the output of `afar help WORD`; nil if the word isn't a topic.
    ///
    /// - Throws: A failure if the word is neither a topic nor a command.
    static func text(for arguments: [String], commands: [String], style: Style = .plain) throws -> String? {
        guard arguments.count == 2, arguments[0] == "help", !arguments[1].hasPrefix("-") else { return nil }
        let word = arguments[1]
        guard !commands.contains(word), word != "help" else { return nil }
        if let heading = heading(named: word.lowercased()), let section = section(heading) {
            return GuideText(style: style).text(of: section)
        }
        let near = Misspelling.nearest(to: word.lowercased(), in: commands + names)
        let hint = near.map { " Did you mean \"afar help \($0)\"?" } ?? " \"afar help\" lists them."
        throw Failure(.usage, "\"\(word)\" is neither a command nor a topic.\(hint)")
    }

    /// Returns the heading of a topic with this name. Without such a topic, returns the only heading whose topic's name, or one of whose
    /// words, begins with the text.
    private static func heading(named word: String) -> String? {
        let text = synonyms[word] ?? word
        if let topic = headings.first(where: { $0.key == text }) { return topic.value }
        let byName = headings.filter { $0.key.hasPrefix(text) }
        let byHeading = headings.filter { $0.value.lowercased().split(separator: " ").contains { $0.hasPrefix(text) } }
        return [byName, byHeading].first { $0.count == 1 }?.first?.value
    }

    /// Returns the Markdown lines of a section with its subsections.
    static func section(_ heading: String) -> [String]? {
        let lines = String(decoding: PackageResources.Command_Line_md, as: UTF8.self).components(separatedBy: "\n")
        guard let start = lines.firstIndex(where: { $0.drop { $0 == "#" } == " \(heading)" }) else { return nil }
        let level = lines[start].prefix { $0 == "#" }.count
        var isCode = false
        let rest = lines[(start + 1)...].prefix { line in
            if line.hasPrefix("```") { isCode.toggle() }
            let depth = line.prefix { $0 == "#" }.count
            return isCode || depth == 0 || depth > level
        }
        return [lines[start]] + rest
    }
}

/// Wraps text for a terminal.
enum TextLayout {
    static let width = 80

    /// Returns lines of at most 80 columns.
    static func wrapped(_ text: String, indent: String = "", first: String? = nil) -> String {
        var lines: [String] = []
        var line = first ?? indent
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                (line, isEmpty) = (indent, true)
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return (lines + [line]).joined(separator: "\n")
    }

    /// Returns a command of a shell on lines of at most 80 columns, if its words aren't longer. A backslash continues a line.
    static func wrappedCommand(_ command: String, indent: String) -> String {
        var words = [""]
        var quote: Character?
        for character in command {
            if character == " ", quote == nil {
                words.append("")
                continue
            }
            words[words.count - 1].append(character)
            if character == quote {
                quote = nil
            } else if quote == nil, "'\"".contains(character) {
                quote = character
            }
        }
        var lines = [indent + words[0]]
        for word in words.dropFirst() {
            let line = "\(lines[lines.count - 1]) \(word)"
            if line.count > width - 2 {
                lines[lines.count - 1] += " \\"
                lines.append("\(indent)  \(word)")
            } else {
                lines[lines.count - 1] = line
            }
        }
        return lines.joined(separator: "\n")
    }
}

/// Converts the guide's Markdown to text for a terminal.
struct GuideText {
    var style: Style

    func text(of lines: [String]) -> String {
        var blocks: [String] = []
        var paragraph: [String] = []
        var rows: [[String]] = []
        var code: [String]?
        func finish() {
            if !paragraph.isEmpty {
                let isItem = paragraph[0].hasPrefix("- ")
                blocks.append(
                    TextLayout.wrapped(
                        Self.inline(paragraph.joined(separator: " ")), indent: isItem ? "  " : "", first: ""))
            }
            if !rows.isEmpty { blocks.append(table(rows)) }
            (paragraph, rows) = ([], [])
        }
        for line in lines {
            if line.hasPrefix("```") {
                finish()
                if let lines = code {
                    blocks.append(lines.map { $0.isEmpty ? "" : "    \($0)" }.joined(separator: "\n"))
                }
                code = code == nil ? [] : nil
            } else if code != nil {
                code?.append(line)
            } else if line.hasPrefix("#") {
                finish()
                blocks.append(style.paint(line.drop { $0 == "#" || $0 == " " }.uppercased(), .bold))
            } else if line.hasPrefix("|") {
                if !paragraph.isEmpty { finish() }
                let cells = line.dropFirst().dropLast().replacing("\\|", with: "\0").split(separator: "|").map {
                    $0.trimmingCharacters(in: .whitespaces).replacing("\0", with: "|")
                }
                if !cells.allSatisfy({ $0.allSatisfy { $0 == "-" } }) { rows.append(cells) }
            } else if line.isEmpty {
                finish()
            } else {
                if line.hasPrefix("- ") { finish() }
                paragraph.append(line.trimmingCharacters(in: .whitespaces))
            }
        }
        finish()
        return blocks.joined(separator: "\n\n") + "\n"
    }

    /// Returns a table's rows without its head. Each row is its first cell, with the other cells below it.
    private func table(_ rows: [[String]]) -> String {
        let body = rows.dropFirst()
        // A table of tasks has the commands of several tools.
        if body.allSatisfy({ $0.count > 2 && $0.dropFirst().allSatisfy { $0.hasPrefix("`") || $0 == "–" } }) {
            return body.map { commands($0, tools: rows[0]) }.joined(separator: "\n\n")
        }
        return body.map { cells in
            let texts = cells.map(Self.inline)
            let rest = TextLayout.wrapped(
                texts.dropFirst().joined(separator: "; "), indent: String(repeating: " ", count: 8))
            return "  \(texts.first ?? "")\n\(rest)"
        }.joined(separator: "\n")
    }

    /// Returns a task, and the command of each tool on lines of its own.
    private func commands(_ cells: [String], tools: [String]) -> String {
        let commands = zip(cells, tools).dropFirst().map { cell, tool in
            cell == "–" ? "    \(tool): –" : TextLayout.wrappedCommand(Self.inline(cell), indent: "    ")
        }
        return ([style.paint(cells[0], .bold)] + commands).joined(separator: "\n")
    }

    /// Removes the marks of code, emphasis and links.
    private static func inline(_ text: String) -> String {
        var result = ""
        var isCode = false
        var rest = text[...]
        while let next = rest.popFirst() {
            if next == "`" {
                isCode.toggle()
            } else if !isCode, next == "[", let end = rest.firstRange(of: "]("),
                let close = rest[end.upperBound...].firstIndex(of: ")")
            {
                result += inline(String(rest[..<end.lowerBound]))
                rest = rest[rest.index(after: close)...]
            } else if isCode || next != "*" {
                result.append(next)
            }
        }
        return result
    }
}
