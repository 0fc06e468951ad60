import Afar
import AfarTestServer
import Foundation

/// A server with one file, `/file`, whose responses a test can change, and a folder for downloads.
final class FileServer: Sendable {
    /// The parts of a response that a test can change.
    struct Answer: Sendable {
        var status: Int
        /// The bytes to send, as offsets in the file.
        var bytes: Range<Int>
        var headers: [String: String?]
        /// The number of bytes after which the connection is closed.
        var cut: Int?
    }

    let server: TestServer
    let content: Data
    let folder = FileManager.default.temporaryDirectory.appending(path: "afar-parallel-\(UUID().uuidString)")

    /// - Parameter change: Changes the answer to the request with this number, from 0.
    init(
        _ content: Data,
        change: @escaping @Sendable (_ number: Int, ServerRequest, inout Answer) -> Void = { _, _, _ in }
    ) async throws {
        self.content = content
        server = try await TestServer.start()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let counter = Counter()
        server.route("/file") { request in
            let range = Self.range(request.headers["Range"], length: content.count)
            var answer = Answer(
                status: range == nil ? 200 : 206, bytes: range ?? 0..<content.count, headers: ["ETag": "\"v1\""])
            if let range {
                answer.headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)"
            }
            change(counter.next(), request, &answer)
            var response = ServerResponse(status: answer.status, length: answer.bytes.count) { [answer] body in
                let end = answer.cut.map { answer.bytes.lowerBound + $0 } ?? answer.bytes.upperBound
                for start in stride(from: answer.bytes.lowerBound, to: end, by: 65_536) {
                    try body.write(content[start..<min(start + 65_536, end)])
                }
            }
            for (name, value) in answer.headers { if let value { response.headers.append(name, value) } }
            return response
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var url: URL { server.url("/file") }
    var file: URL { folder.appending(path: "file") }
    /// The names in the folder. After a failure, it must be empty.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }
    var requestCount: Int { server.requestCount(path: "/file") }

    func isComplete() throws -> Bool { try Data(contentsOf: file) == content }

    private static func range(_ header: String?, length: Int) -> Range<Int>? {
        guard let ends = header?.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false),
            let first = ends.first.flatMap({ Int($0) }), first < length
        else { return nil }
        return first..<min(length, (ends.last.flatMap { Int($0) } ?? length - 1) + 1)
    }
}

/// Numbers requests from 0.
final class Counter: @unchecked Sendable {
    // Sendable because the lock protects the number.
    private let lock = NSLock()
    private var count = 0

    func next() -> Int {
        lock.withLock {
            count += 1
            return count - 1
        }
    }

    var value: Int { lock.withLock { count } }
}

extension Data {
    /// Bytes that differ at different offsets.
    static func sample(_ count: Int, seed: UInt64 = 1) -> Data { PseudoRandomBytes.bytes(count, seed: seed) }
}

let mebibyte = 1 << 20
