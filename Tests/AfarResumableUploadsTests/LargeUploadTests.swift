import Afar
import AfarResumableUploads
import Foundation
import TestServers
import Testing

/// Large files that arrive in many pieces. `make resumable-uploads` sets the variables for 1 GiB and 20 cuts.
@Suite(.timeLimit(.minutes(10))) struct LargeUploadTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let size = (environment["AFAR_UPLOAD_MEBIBYTES"].flatMap { Int($0) } ?? 32) << 20
    private static let cutCount = environment["AFAR_UPLOAD_CUTS"].flatMap { Int($0) } ?? 5
    /// The limit of the sender's memory in KiB.
    private static let memoryLimit = 20 << 10

    @Test(arguments: ["tus", "8"]) func aLargeFileArrivesWhole(_ name: String) async throws {
        var generator = SeededGenerator(seed: 2026)
        let cuts = (0..<Self.cutCount).map { _ in Int64.random(in: 1..<Int64(Self.size), using: &generator) }.sorted()
        let server = try UploadServer { $0.cuts = cuts }
        defer { server.stop() }
        let folder = try TestFolder()
        let file = folder.url.appending(path: "large")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        let (_, block) = try folder.file(1 << 20)
        for index in 0..<(Self.size >> 20) {
            // Each mebibyte differs, so a piece at a wrong offset is detected.
            var part = block
            withUnsafeBytes(of: UInt64(index)) { part.replaceSubrange(0..<8, with: $0) }
            try handle.write(contentsOf: part)
        }
        try handle.close()
        let probe = try Probe(file, to: server.url(), record: folder.record, in: folder, protocol: name)
        #expect(probe.child.wait(), "\(probe.child.output)")
        #expect(server.log.filter { $0.hasPrefix("HEAD") }.count == Self.cutCount)
        let received = try #require(server.file)
        let comparison = try ChildProcess(["cmp", file.path, received.path], output: folder.url.appending(path: "cmp"))
        #expect(comparison.wait(), "\(comparison.output)")
        let peak = try #require(probe.peakMemory)
        #expect(peak < Self.memoryLimit)
        print("A process that sent \(Self.size >> 20) MiB with \(Self.cutCount) cuts used \(peak) KiB.")
    }
}
