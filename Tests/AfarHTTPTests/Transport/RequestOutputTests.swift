import AfarHTTP1
import AfarTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarHTTP

@Suite struct RequestOutputTests {
    private func head(_ framing: RequestHead.BodyFraming) throws -> RequestHead {
        try RequestHead(
            HTTPRequest(method: .put, scheme: "http", authority: "a", path: "/"), body: framing)
    }

    /// Sends the output through a socket that accepts a limited number of bytes at a time.
    private func drain(_ output: inout RequestOutput, atMost limit: Int) throws -> [UInt8] {
        var sent: [UInt8] = []
        while true {
            let progress = try output.send { bytes in
                sent += bytes.prefix(limit)
                return .bytes(min(bytes.count, limit))
            }
            switch progress {
            case .end: return sent
            case .wait: Issue.record("nothing to wait for")
            case .result: continue
            }
        }
    }

    @Test(arguments: [1, 7, 100_000], [0, 1, 1_000, 150_000])
    func aBodyWithALengthFollowsTheHead(_ limit: Int, _ count: Int) throws {
        guard limit > 1 || count <= 1_000 else { return }
        let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) })
        let head = try head(.length(Int64(count)))
        var inline = RequestOutput(head: head, inlineBody: body, feed: nil)
        #expect(try drain(&inline, atMost: limit) == head.bytes + body)
        #expect(inline.isSent)
        var fed = RequestOutput(head: head, inlineBody: nil, feed: BodyFeed(data: body))
        #expect(!fed.isBeforeBody)
        #expect(try drain(&fed, atMost: limit) == head.bytes + body)
        #expect(fed.isSent)
        #expect(fed.byteCount == Int64(head.bytes.count + count))
        #expect(fed.bodyByteCount == Int64(count))
    }

    @Test(arguments: [1, 7, 100_000]) func aBodyWithoutALengthIsChunked(_ limit: Int) async throws {
        let chunks = [Data("abc".utf8), Data(repeating: 9, count: 70_000)]
        let next = Locked(chunks[...])
        let isReady = Locked(true)
        let pump = BodyPump { isReady.withLock { $0 = true } }
        pump.start(RequestBodyStream(isReplayable: false) { { next.withLock { $0.popFirst() } } })
        let head = try head(.chunked)
        var output = RequestOutput(head: head, inlineBody: nil, feed: BodyFeed(pump: pump, length: nil))
        var sent: [UInt8] = []
        while !output.isSent {
            isReady.withLock { $0 = false }
            let progress = try output.send { bytes in
                sent += bytes.prefix(limit)
                return .bytes(min(bytes.count, limit))
            }
            guard case .wait = progress else { continue }
            try await waitWhile { !isReady.withLock({ $0 }) }
        }
        // A chunk is at most as large as the output's buffer.
        let large = chunks[1]
        let (first, second) = (large.prefix(65_536), large.dropFirst(65_536))
        var expected = head.bytes + Array("3\r\nabc\r\n10000\r\n".utf8) + first
        expected += Array("\r\n\(String(second.count, radix: 16))\r\n".utf8) + second + Array("\r\n0\r\n\r\n".utf8)
        #expect(sent == expected)
    }

    @Test func aFullSocketLosesNothing() throws {
        let head = try head(.length(3))
        var output = RequestOutput(head: head, inlineBody: Data("abc".utf8), feed: nil)
        guard case .result(.wouldBlock) = try output.send({ _ in .wouldBlock }) else {
            Issue.record("the result isn't returned")
            return
        }
        #expect(output.byteCount == 0)
        #expect(try drain(&output, atMost: 5) == head.bytes + Array("abc".utf8))
    }
}
