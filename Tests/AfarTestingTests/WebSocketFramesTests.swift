import AfarCore
import Foundation
import Testing

@testable import AfarTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct WebSocketFramesTests {
    /// Returns a client's frame.
    private func frame(_ first: UInt8, _ payload: [UInt8], length: [UInt8]? = nil) -> [UInt8] {
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        var length = length ?? [UInt8(payload.count)]
        length[0] |= 0x80
        return [first] + length + mask + zip(payload.indices, payload).map { $1 ^ mask[$0 & 3] }
    }

    private func events(_ bytes: [UInt8], in pieces: Int) throws -> [String] {
        var frames = WebSocketFrames()
        var events: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            frames.append(Data(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
            while let event = try frames.next() { events.append("\(event)") }
        }
        return events
    }

    @Test(arguments: [1, 2, 7, 1_000]) func framesAreParsed(pieces: Int) throws {
        let long = [UInt8](repeating: 0x61, count: 300)
        let bytes =
            frame(0x81, Array("hi".utf8)) + frame(0x01, [0xC3]) + frame(0x89, [7]) + frame(0x00, [])
            + frame(0x80, [0xBC])
            + frame(0x82, long, length: [126, 1, 44]) + frame(0x81, long, length: [127, 0, 0, 0, 0, 0, 0, 1, 44])
            + frame(0x8A, [8]) + frame(0x88, []) + frame(0x88, [3, 0xE9, 0x62])
        let text = String(repeating: "a", count: 300)
        #expect(
            try events(bytes, in: pieces) == [
                #"message(FoundationNetworking.URLSessionWebSocketTask.Message.string("hi"))"#, "ping(1 bytes)",
                #"message(FoundationNetworking.URLSessionWebSocketTask.Message.string("ü"))"#,
                "message(FoundationNetworking.URLSessionWebSocketTask.Message.data(300 bytes))",
                #"message(FoundationNetworking.URLSessionWebSocketTask.Message.string("\#(text)"))"#, "pong(1 bytes)",
                "close(AfarCore.WebSocketCloseCode(rawValue: 1005))",
                "close(AfarCore.WebSocketCloseCode(rawValue: 1001))",
            ])
    }

    @Test(
        arguments: [
            ([0x81, 0x00], "a frame isn't masked"), ([0xC1, 0x80], "unknown opcode or reserved bits"),
            ([0x83, 0x80], "unknown opcode or reserved bits"), ([0x09, 0x80, 0, 0, 0, 0], "a control frame"),
            ([0x89, 0xFE, 1, 0, 0, 0, 0, 0], "a control frame"), ([0x80, 0x80, 0, 0, 0, 0], "has no message"),
            ([0x01, 0x80, 0, 0, 0, 0, 0x01, 0x80, 0, 0, 0, 0], "before the previous one"),
            ([0x81, 0x81, 0, 0, 0, 0, 0xFF], "not UTF-8"), ([0x88, 0x81, 0, 0, 0, 0, 3], "incomplete code"),
            ([0x82, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "longer than 2 GiB"),
        ] as [([UInt8], String)])
    func violationsAreErrors(bytes: [UInt8], message: String) {
        let error = #expect(throws: WebSocketFrames.Violation.self) { try events(bytes, in: 1_000) }
        #expect(error?.description.contains(message) == true)
    }

    @Test func messagesAreEncoded() {
        #expect(WebSocketFrames.encode(.string("")) == Data([0x81, 0]))
        #expect(WebSocketFrames.encode(.data(Data(count: 126))).prefix(4) == Data([0x82, 126, 0, 126]))
        let fragmented = WebSocketFrames.encode(.data(Data(count: 16 * 1024 + 1)))
        #expect(fragmented.prefix(4) == Data([0x02, 126, 0x40, 0]))
        #expect(fragmented.suffix(3) == Data([0x80, 1, 0]))
        #expect(WebSocketFrames.encode(.data(Data(count: 16 * 1024))).count == 16 * 1024 + 4)
        #expect(WebSocketFrames.close(.normalClosure, reason: "é") == Data([0x88, 4, 3, 0xE8, 0xC3, 0xA9]))
        #expect(WebSocketFrames.close(.noStatusReceived, reason: "a") == Data([0x88, 0]))
        #expect(WebSocketFrames.close(.init(rawValue: 70_000), reason: "a") == Data([0x88, 0]))
        #expect(WebSocketFrames.close(.goingAway, reason: String(repeating: "é", count: 62)).count == 2 + 2 + 122)
    }
}
