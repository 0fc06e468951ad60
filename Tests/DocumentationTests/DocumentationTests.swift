import Foundation
import Testing

/// Checks the samples and links in the documentation.
@Suite struct DocumentationTests {
    @Test func theReadMeAndTheGuidesAreFound() {
        let names = Markdown.pages.map(\.name)
        #expect(names.first == "README.md")
        #expect(names.contains("Docs/Getting-Started.md"))
        #expect(!Markdown.pages.flatMap(\.samples).isEmpty)
    }

    @Test(arguments: Markdown.pages.flatMap(\.samples))
    func aSampleIsCompiled(sample: Markdown.Sample) {
        guard !Self.sources.contains(where: { sample.code.isContained(in: $0) }) else { return }
        let text = sample.code.lines.joined(separator: "\n")
        Issue.record(
            "\(sample.page):\(sample.line): this sample isn't in any file of Samples, so it isn't compiled:\n\(text)")
    }

    @Test(arguments: Markdown.pages)
    func aLinkLeadsToAFile(page: Markdown) {
        for (line, target) in page.relativeLinks {
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let file = page.url.deletingLastPathComponent().appending(path: String(parts[0])).standardizedFileURL
            let linked = parts[0].isEmpty ? page.url : file
            guard FileManager.default.fileExists(atPath: linked.path) else {
                Issue.record("\(page.name):\(line): \(target) doesn't exist")
                continue
            }
            guard parts.count == 2, !Markdown(linked).anchors.contains(String(parts[1])) else { continue }
            Issue.record("\(page.name):\(line): \(target) refers to a heading that doesn't exist")
        }
    }

    @Test func codeIsFoundWithAnyIndentation() {
        let source = ["func f() {", "    if a {", "        b()", "", "        c()", "    }", "}"]
        #expect(Code(["  b()", "", "  c()"]).isContained(in: source))
        #expect(Code(["if a {", "    b()"]).isContained(in: source))
        #expect(!Code(["if a {", "  b()"]).isContained(in: source))
        #expect(!Code(["b()", "c()"]).isContained(in: source))
        #expect(!Code(["()", ""]).isContained(in: source))
    }

    /// The lines of the files that contain samples. The README's first sample is a program in the consumer package.
    private static let sources: [[String]] = {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let folders = ["DocumentationTests/Samples", "Consumer/Sources/ReadMe"].map { tests.appending(path: $0) }
        let files = folders.flatMap {
            (try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)) ?? []
        }
        return files.filter { $0.pathExtension == "swift" }.compactMap { file in
            try? String(contentsOf: file, encoding: .utf8)
                .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
    }()
}
