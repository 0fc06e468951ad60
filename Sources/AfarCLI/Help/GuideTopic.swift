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

    static var names: [String] { headings.map(\.key) }

    /// The topics on lines for the help.
    static var list: String { TextLayout.wrapped(names.joined(separator: ", "), indent: "  ") }

    /// Returns the output of `afar help WORD`; nil if the word isn't a topic.
    ///
    /// - Throws: A failure if the word is neither a topic nor a command.
    static func text(for arguments: [String], commands: [String]) throws -> String? {
        guard arguments.count == 2, arguments[0] == "help", !arguments[1].hasPrefix("-") else { return nil }
        let word = arguments[1]
        guard !commands.contains(word), word != "help" else { return nil }
        if let heading = headings.first(where: { $0.key == word.lowercased() })?.value, let section = section(heading) {
            return GuideText.plain(section)
        }
        let near = Misspelling.nearest(to: word.lowercased(), in: commands + names)
        let hint = near.map { " Did you mean \"afar help \($0)\"?" } ?? " \"afar help\" lists them."
        throw Failure(.usage, "\"\(word)\" is neither a command nor a topic.\(hint)")
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
}

/// Converts the guide's Markdown to plain text.
enum GuideText {
    static func plain(_ lines: [String]) -> String {
        var blocks: [String] = []
        var paragraph: [String] = []
        var rows: [[String]] = []
        var code: [String]?
        func finish() {
            if !paragraph.isEmpty {
                let isItem = paragraph[0].hasPrefix("- ")
                blocks.append(
                    TextLayout.wrapped(inline(paragraph.joined(separator: " ")), indent: isItem ? "  " : "", first: ""))
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
                blocks.append(line.drop { $0 == "#" || $0 == " " }.uppercased())
            } else if line.hasPrefix("|") {
                if !paragraph.isEmpty { finish() }
                let cells = line.dropFirst().dropLast().replacing("\\|", with: "\0").split(separator: "|").map {
                    inline($0.trimmingCharacters(in: .whitespaces)).replacing("\0", with: "|")
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
    private static func table(_ rows: [[String]]) -> String {
        rows.dropFirst().map { cells in
            let first = cells.first ?? ""
            let rest = TextLayout.wrapped(
                cells.dropFirst().joined(separator: "; "), indent: String(repeating: " ", count: 8))
            return "  \(first)\n\(rest)"
        }.joined(separator: "\n")
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
