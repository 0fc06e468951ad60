import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CompressionTests {
    @Test func compresses() async throws {
        try await withServer { server in
            for coding in ["gzip", "deflate"] {
                let answer = try await Curl.get(server.url("/\(coding)"), "--compressed")
                #expect(answer.values("Content-Encoding") == [coding])
                #expect(try answer.json["encoding"] as? String == coding)
            }
        }
    }

    @Test(arguments: [0, 1, 2, 258, 259, 260, 70_000, 50_000_000])
    func theBombExpandsToItsSize(count: Int) async throws {
        try await withServer { server in
            let url = server.url("/gzip-bomb?bytes=\(count)").absoluteString
            let expanded = try await Curl.run(["--compressed", url])
            #expect(expanded.count == count)
            #expect(expanded.allSatisfyZero)
            let sent = try await Curl.run([url])
            #expect(sent.count <= count / 158 + 280)
        }
    }
}

extension Data {
    /// Compares blocks, because comparing single bytes takes seconds in a debug build.
    fileprivate var allSatisfyZero: Bool {
        let zeros = Data(count: 65_536)
        return stride(from: 0, to: count, by: zeros.count).allSatisfy { start in
            let end = Swift.min(start + zeros.count, count)
            return self[start..<end] == zeros[..<(end - start)]
        }
    }
}
