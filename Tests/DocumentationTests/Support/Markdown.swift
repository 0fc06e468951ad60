import Foundation
import Testing

/// A page of the documentation.
struct Markdown: Sendable, CustomTestStringConvertible {
    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

    /// The README, the plug-ins' README, and all pages in Docs.
    static let pages: [Markdown] = {
        let docs = try? FileManager.default.contentsOfDirectory(
            at: root.appending(path: "Docs"), includingPropertiesForKeys: nil)
        let files = (docs ?? []).filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
        let readMes = ["README.md", "Plugins/README.md"].map { root.appending(path: $0) }
        return (readMes + files).map(Markdown.init)
    }()

    let url: URL
    let lines: [String]

    init(_ url: URL) {
        self.url = url
        let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    var name: String { url.path.replacing(Self.root.path + "/", with: "").trimmingPrefix("/").description }
    var testDescription: String { name }

    /// A fenced code block in Swift.
    struct Sample: Sendable, CustomTestStringConvertible {
        let page: String
        /// The number of the first line, beginning with 1.
        let line: Int
        let code: Code

        var testDescription: String { "\(page):\(line)" }
    }

    /// The Swift blocks that aren't package manifests.
    var samples: [Sample] {
        var samples: [Sample] = []
        var start: Int?
        for (index, line) in lines.enumerated() {
            if let first = start {
                guard line.trimmingCharacters(in: .whitespaces) == "```" else { continue }
                let code = Code(lines[first..<index])
                if !code.lines.prefix(2).contains("// Package.swift") {
                    samples.append(Sample(page: name, line: first + 1, code: code))
                }
                start = nil
            } else if line.trimmingCharacters(in: .whitespaces) == "```swift" {
                start = index + 1
            }
        }
        return samples
    }

    /// The link targets that are files in this repository, with their line numbers.
    var relativeLinks: [(line: Int, target: String)] {
        lines.enumerated().flatMap { index, line in
            line.matches(of: /\]\(([^)\s]+)\)/).map { (index + 1, String($0.output.1)) }
        }
        .filter { !$0.1.contains("://") && !$0.1.hasPrefix("mailto:") }
    }

    /// The anchors of the headings.
    var anchors: Set<String> {
        Set(
            lines.filter { $0.hasPrefix("#") }.map { heading in
                let text = heading.drop { $0 == "#" || $0 == " " }.lowercased()
                return String(text.compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" ? $0 : nil })
            })
    }
}
