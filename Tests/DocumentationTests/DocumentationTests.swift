import Foundation
import Testing

/// What the pages show and where they point.
@Suite struct DocumentationTests {
    @Test func theReadMeAndTheGuidesAreFound() {
        let names = Markdown.pages.map(\.name)
        #expect(names.first == "README.md")
        #expect(names.contains("Docs/GettingStarted.md"))
        #expect(!Markdown.pages.flatMap(\.samples).isEmpty)
    }

    @Test(arguments: Markdown.pages.flatMap(\.samples))
    func aSampleIsCompiled(sample: Markdown.Sample) {
        guard !Self.sources.contains(where: { sample.code.stands(in: $0) }) else { return }
        let text = sample.code.lines.joined(separator: "\n")
        Issue.record(
            "\(sample.page):\(sample.line): this sample stands in no file of Samples, so nothing compiles it:\n\(text)")
    }

    @Test(arguments: Markdown.pages)
    func aLinkLeadsToAFile(page: Markdown) {
        for (line, target) in page.relativeLinks {
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let file = page.url.deletingLastPathComponent().appending(path: String(parts[0])).standardizedFileURL
            let linked = parts[0].isEmpty ? page.url : file
            guard FileManager.default.fileExists(atPath: linked.path) else {
                Issue.record("\(page.name):\(line): there is no \(target)")
                continue
            }
            guard parts.count == 2, !Markdown(linked).anchors.contains(String(parts[1])) else { continue }
            Issue.record("\(page.name):\(line): \(target) names no heading")
        }
    }

    @Test func codeIsFoundWhateverItsIndentation() {
        let source = ["func f() {", "    if a {", "        b()", "", "        c()", "    }", "}"]
        #expect(Code(["  b()", "", "  c()"]).stands(in: source))
        #expect(Code(["if a {", "    b()"]).stands(in: source))
        #expect(!Code(["if a {", "  b()"]).stands(in: source))
        #expect(!Code(["b()", "c()"]).stands(in: source))
        #expect(!Code(["()", ""]).stands(in: source))
    }

    /// The lines of the files with samples. The README's first sample is a program of the package that uses Afar.
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
