import AfarImage
import Foundation
import Measurement

/// Compares Afar and Pillow at making thumbnails of a 12-megapixel photograph, each in its own process. Run it with
/// `make bench-images`.
@main struct ImageBench {
    private static let size = (width: 4_000, height: 3_000)
    private static let target = CGSize(width: 320, height: 240)

    /// A process to measure.
    private struct Contestant {
        let name: String
        let executable: URL
        let arguments: [String]
    }

    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        switch arguments.popFirst() {
        case "--thumbnails"?:
            guard let path = arguments.popFirst(), let count = arguments.popFirst().flatMap({ Int($0) }) else { return }
            try makeThumbnails(of: URL(filePath: path), count: count)
        case let python?:
            try compare(python: URL(filePath: python), script: arguments.first ?? "", count: 1_000)
        case nil: print("run this program with make bench-images")
        }
    }

    private static func compare(python: URL, script: String, count: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "afar-images-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let photograph = folder.appending(path: "photograph.jpg")
        let data = try Photograph.image(width: size.width, height: size.height).data(using: .jpeg(quality: 88))
        try data.write(to: photograph)
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let work = [photograph.path, "\(count)"]
        let contestants = [
            Contestant(name: "Afar", executable: own, arguments: ["--thumbnails"] + work),
            Contestant(name: "Pillow, thumbnail()", executable: python, arguments: [script, "thumbnail"] + work),
            Contestant(name: "Pillow, draft() and resize()", executable: python, arguments: [script, "draft"] + work),
        ]
        let rows = try contestants.map { contestant in
            let figures = try run(contestant)
            return [
                contestant.name, text(figures.seconds), text(figures.cpuSeconds),
                text(1_000 * figures.cpuSeconds / Double(count)), text(Double(figures.peakKilobytes) / 1_000),
            ]
        }
        print(
            "\n\(count) thumbnails, \(Int(target.width)) × \(Int(target.height)), of a JPEG of \(size.width) × \(size.height) pixels, "
                + "\(text(Double(data.count) / 1e6)) MB")
        print(Table(columns: ["", "seconds", "CPU s", "CPU ms each", "peak MB"], rows: rows).text)
    }

    private static func run(_ contestant: Contestant) throws -> Figures {
        let process = Process()
        let output = Pipe()
        process.executableURL = contestant.executable
        process.arguments = contestant.arguments
        process.standardOutput = output
        try process.run()
        let line = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return try JSONDecoder().decode(Figures.self, from: line)
    }

    private static func makeThumbnails(of file: URL, count: Int) throws {
        let data = try Data(contentsOf: file)
        let options = ImageDecodingOptions(targetSize: target)
        let start = Usage.now
        var bytes = 0
        for _ in 0..<count {
            bytes += try Image(data: data, options: options).imageScaled(to: target).data(using: .jpeg(quality: 85))
                .count
        }
        let end = Usage.now
        let figures = Figures(
            seconds: end.seconds - start.seconds, cpuSeconds: end.cpuSeconds - start.cpuSeconds,
            peakKilobytes: Usage.peakKilobytes, bytes: bytes)
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
    }

    private static func text(_ number: Double) -> String {
        number.formatted(.number.precision(.fractionLength(1)).locale(Locale(identifier: "en_US")))
    }
}
