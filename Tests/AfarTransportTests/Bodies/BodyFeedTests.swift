import Foundation
import Testing

@testable import AfarTransport

@Suite(.timeLimit(.minutes(1)))
struct BodyFeedTests {
    private func withFile(_ data: Data, _ body: (URL) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "feed-\(UUID().uuidString)")
        try data.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url)
    }

    private func readAll(_ feed: BodyFeed, room: Int) throws -> Data {
        var all = Data()
        var bytes = [UInt8](repeating: 0, count: room)
        while case .bytes(let count) = try bytes.withUnsafeMutableBytes({ try feed.read(into: $0) }), count > 0 {
            all += bytes.prefix(count)
        }
        return all
    }

    @Test(arguments: [1, 7, 100_000])
    func memoryAndFilesProvideTheirBytes(_ room: Int) throws {
        let data = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        // A slice, whose indices don't begin at 0.
        let slice = data[100...]
        let memory = BodyFeed(data: slice)
        #expect(try readAll(memory, room: room) == slice)
        #expect(memory.byteCount == 9_900)
        try withFile(data) { url in
            let file = try BodyFeed(file: url)
            defer { file.close() }
            #expect(file.length == 10_000)
            #expect(try readAll(file, room: room) == data)
        }
    }

    @Test func seekingRestartsTheBody() throws {
        let data = Data("abcdef".utf8)
        try withFile(data) { url in
            for feed in [BodyFeed(data: data), try BodyFeed(file: url)] {
                #expect(try readAll(feed, room: 4) == data)
                #expect(!feed.seek(to: -1))
                #expect(feed.seek(to: 0))
                #expect(feed.byteCount == 0)
                #expect(try readAll(feed, room: 4) == data)
                feed.close()
            }
        }
    }

    @Test func aPumpCannotRestart() {
        let feed = BodyFeed(pump: BodyPump {}, length: nil)
        #expect(feed.seek(to: 0))
        #expect(!feed.seek(to: 1))
    }

    @Test func aShrinkingFileFails() throws {
        try withFile(Data("abcdef".utf8)) { url in
            let feed = try BodyFeed(file: url)
            defer { feed.close() }
            #expect(truncate(url.path, 3) == 0)
            let fault = #expect(throws: Fault.self) { try readAll(feed, room: 2) }
            #expect(fault?.code == .requestBodyFailed)
        }
    }

    @Test func aGrowingFileIsSentAtItsOriginalLength() throws {
        try withFile(Data("abc".utf8)) { url in
            let feed = try BodyFeed(file: url)
            defer { feed.close() }
            try Data("abcdef".utf8).write(to: url)
            #expect(try readAll(feed, room: 100).count == 3)
        }
    }

    @Test func aMissingFileFails() {
        let fault = #expect(throws: Fault.self) { try BodyFeed(file: URL(fileURLWithPath: "/nonexistent/file")) }
        #expect(fault?.code == .requestBodyFailed)
        #expect(fault?.systemError == ENOENT)
    }

    /// Opening a named pipe would block the transport's thread until the pipe has a writer.
    @Test func onlyRegularFilesAreOpened() throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID().uuidString)")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(at: pipe) }
        for url in [pipe, URL(fileURLWithPath: "/dev/zero"), FileManager.default.temporaryDirectory] {
            let fault = #expect(throws: Fault.self) { try BodyFeed(file: url) }
            #expect(fault?.code == .requestBodyFailed)
        }
    }
}
