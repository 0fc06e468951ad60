import Foundation

/// The documentation of the tool.
enum Pages {
    private static let docs = URL(filePath: #filePath).appending(path: "../../../../Docs").standardizedFileURL
    static let manual = docs.appending(path: "afar.1")
    static let guide = docs.appending(path: "Command-Line.md")

    static func text(_ page: URL) throws -> String { try String(contentsOf: page, encoding: .utf8) }

    /// Returns the lines of each fenced code block in the given language.
    static func blocks(of language: String, in page: URL) throws -> [[String]] {
        var blocks: [[String]] = []
        var isInside = false
        for line in try text(page).components(separatedBy: "\n") {
            if line == "```\(language)" {
                isInside = true
                blocks.append([])
            } else if line == "```" {
                isInside = false
            } else if isInside {
                blocks[blocks.count - 1].append(line)
            }
        }
        return blocks
    }
}
