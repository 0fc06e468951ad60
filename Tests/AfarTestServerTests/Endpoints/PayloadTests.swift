import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PayloadTests {
    @Test(arguments: [0, 1, 65_536, 1_000_003])
    func sendsTheBytesOfASeed(count: Int) async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/bytes/\(count)?seed=42"))
            #expect(answer.body == PseudoRandomBytes.bytes(count, seed: 42))
            #expect(answer.values("Content-Length") == ["\(count)"])
        }
    }

    @Test func sendsLargeBodies() async throws {
        try await withServer { server in
            let count = 64 << 20
            let body = try await Curl.run([server.url("/large/\(count)").absoluteString])
            #expect(body.count == count)
            #expect(body.suffix(1000) == PatternBytes.bytes((count - 1000)..<count))
        }
    }

    @Test(arguments: [
        ("bytes=0-0", 0..<1), ("bytes=5-9", 5..<10), ("bytes=90-", 90..<100), ("bytes=-7", 93..<100),
        ("bytes=90-200", 90..<100), ("bytes=-200", 0..<100),
    ])
    func sendsARange(header: String, range: Range<Int>) async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/range/100"), "-H", "Range: \(header)")
            #expect(answer.status == 206)
            #expect(answer.body == PatternBytes.bytes(range))
            #expect(answer.values("Content-Range") == ["bytes \(range.lowerBound)-\(range.upperBound - 1)/100"])
        }
    }

    @Test func sendsARangeOfASeed() async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/range/200000?seed=7"), "-H", "Range: bytes=70003-199998")
            #expect(answer.body == PseudoRandomBytes.bytes(200_000, seed: 7).dropFirst(70_003).dropLast())
        }
    }

    @Test func breaksOffAtTheNextCut() async throws {
        try await withServer { server in
            let url = server.url("/range/100?cuts=60,40").absoluteString
            for (range, arrived) in [("0-", 0..<40), ("39-", 39..<40), ("40-", 40..<60)] {
                let failure = await #expect(throws: Curl.Failed.self) { try await Curl.run(["-r", range, url]) }
                #expect(failure?.output == PatternBytes.bytes(arrived))
            }
            let rest = try await Curl.run(["-r", "60-", url])
            #expect(rest == PatternBytes.bytes(60..<100))
        }
    }

    @Test(arguments: ["bytes=100-", "bytes=200-300", "bytes=-0"])
    func rejectsARangeBeyondTheEnd(header: String) async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/range/100"), "-H", "Range: \(header)")
            #expect(answer.status == 416)
            #expect(answer.values("Content-Range") == ["bytes */100"])
        }
    }

    @Test(arguments: ["bytes=9-5", "bytes=a-b", "lines=1-2", "bytes=0-1,3-4", "bytes=-", "bytes=1"])
    func ignoresAnUnsupportedRange(header: String) async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/range/100"), "-H", "Range: \(header)")
            #expect(answer.status == 200)
            #expect(answer.body.count == 100)
        }
    }

    @Test func honorsConditions() async throws {
        try await withServer { server in
            let url = server.url("/range/100")
            let plain = try await Curl.get(url)
            let tag = try #require(plain.values("ETag").first)
            let date = try #require(plain.values("Last-Modified").first)
            let early = "Thu, 01 Jan 1970 00:00:00 GMT"
            let cases: [([String], Int)] = [
                (["If-None-Match: \(tag)"], 304), (["If-None-Match: \"x\", W/\(tag)"], 304),
                (["If-None-Match: \"x\"", "If-Modified-Since: \(date)"], 200),
                (["If-Modified-Since: \(date)"], 304), (["If-Modified-Since: \(early)"], 200),
                (["Range: bytes=0-1", "If-Range: \(tag)"], 206), (["Range: bytes=0-1", "If-Range: \"x\""], 200),
                (["Range: bytes=0-1", "If-Range: \(date)"], 206), (["Range: bytes=0-1", "If-Range: \(early)"], 200),
                (["If-Match: \"x\""], 412), (["If-Match: \(tag)"], 200),
            ]
            for (headers, status) in cases {
                let text = headers.joined(separator: "\n")
                let answer = try await Curl.get(url, "-H", "@-", input: Data(text.utf8))
                #expect(answer.status == status, "\(headers)")
                #expect(answer.values("ETag") == [tag])
            }
        }
    }
}
