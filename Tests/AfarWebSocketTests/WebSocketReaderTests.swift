import Foundation
import Testing

@testable import AfarWebSocket

/// Valid and invalid frames from a server.
struct WebSocketReaderTests {
    typealias Event = WebSocketReader.Event

    /// Returns a frame as a server sends it.
    private func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        switch payload.count {
        case ...125: [first, UInt8(payload.count)] + payload
        case ...0xFFFF: [first, 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
        default: [first, 127] + withUnsafeBytes(of: UInt64(payload.count).bigEndian, Array.init) + payload
        }
    }

    private func frame(_ first: UInt8, _ text: String) -> [UInt8] { frame(first, Array(text.utf8)) }

    private func read(
        _ bytes: [UInt8], limit: Int = 1 << 20, deflate: MessageDeflate? = nil, piece: Int = .max
    ) -> (events: [Event], violation: WebSocketViolation?) {
        var events: [Event] = []
        do {
            var reader = try WebSocketReader(maximumMessageSize: limit, deflate: deflate)
            var rest = bytes[...]
            while !rest.isEmpty {
                try reader.read(Data(rest.prefix(piece))) { events.append($0) }
                rest = rest.dropFirst(piece)
            }
        } catch {
            return (events, error)
        }
        return (events, nil)
    }

    @Test(arguments: [Int.min, -1, 0]) func aLimitOfZeroRejectsEachMessage(limit: Int) {
        #expect(read(frame(0x81, "a"), limit: limit).violation?.closeCode == 1009)
        #expect(read(frame(0x01, "") + frame(0x80, "a"), limit: limit).violation?.closeCode == 1009)
        #expect(read(frame(0x81, "a"), limit: .max).violation == nil)
    }

    @Test(arguments: [1, 2, 3, 7, 100, Int.max])
    func messagesAreReassembledFromAnyChunks(piece: Int) {
        let long = String(repeating: "ü", count: 40_000)
        let bytes =
            frame(0x81, "hello") + frame(0x82, [0, 0xFF]) + frame(0x01, "a ") + frame(0x89, "are you there")
            + frame(0x00, "b ") + frame(0x8A, []) + frame(0x80, "c") + frame(0x81, long) + frame(0x81, "")
            + frame(0x88, [0x03, 0xE8] + Array("bye".utf8))
        let (events, violation) = read(bytes, piece: piece)
        #expect(violation == nil)
        #expect(
            events == [
                .text("hello"), .binary(Data([0, 0xFF])), .ping(Data("are you there".utf8)), .pong(Data()),
                .text("a b c"), .text(long), .text(""), .close(code: 1000, reason: "bye"),
            ])
    }

    /// RFC 6455, sections 5.2, 5.4 and 5.5.
    @Test(
        arguments: [
            ("a reserved bit", [0xA1, 0x00]), ("the compression bit without agreement", [0xC1, 0x00]),
            ("an unknown opcode", [0x83, 0x00]), ("an unknown control opcode", [0x8B, 0x00]),
            ("a masked frame", [0x81, 0x81, 0, 0, 0, 0, 0x61]), ("a long control frame", [0x89, 126, 0, 126]),
            ("a fragmented ping", [0x09, 0x00]), ("a fragmented close", [0x08, 0x00]),
            ("a continuation of nothing", [0x80, 0x00]), ("a text within a text", [0x01, 0x00, 0x81, 0x00]),
            ("a length beyond all bounds", [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            ("half a close code", [0x88, 0x01, 0x03]),
            ("the code 999", [0x88, 2, 0x03, 0xE7]), ("the code 1004", [0x88, 2, 0x03, 0xEC]),
            ("the code 1005", [0x88, 2, 0x03, 0xED]), ("the code 1006", [0x88, 2, 0x03, 0xEE]),
            ("the code 1015", [0x88, 2, 0x03, 0xF7]), ("the code 1016", [0x88, 2, 0x03, 0xF8]),
            ("the code 2999", [0x88, 2, 0x0B, 0xB7]), ("the code 5000", [0x88, 2, 0x13, 0x88]),
            ("the code 65535", [0x88, 2, 0xFF, 0xFF]), ("the code 0", [0x88, 2, 0, 0]),
        ] as [(String, [UInt8])])
    func protocolViolationsAreRejected(name: String, bytes: [UInt8]) {
        #expect(read(bytes).violation?.closeCode == 1002, "\(name)")
        #expect(read(bytes, piece: 1).violation?.closeCode == 1002, "\(name)")
    }

    @Test(
        arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999]
            as [UInt16])
    func closeCodesAreRead(code: UInt16) {
        let bytes = frame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)])
        #expect(read(bytes).events == [.close(code: code, reason: "")])
    }

    @Test func theCloseCodeIsOptional() { #expect(read([0x88, 0]).events == [.close(code: nil, reason: "")]) }

    @Test func theReasonOfACloseIsText() {
        #expect(read(frame(0x88, [0x03, 0xE8, 0xCE, 0xBA, 0xE1])).violation?.closeCode == 1007)
    }

    /// Invalid UTF-8 according to RFC 3629, section 3.
    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0x81], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0xAF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80],
            [0xFE], [0xFF], [0x61, 0xC3, 0x28], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xF0, 0x28, 0x8C, 0xBC],
            [0xCE], [0xE1, 0x80], [0xF0, 0x90, 0x80],
        ] as [[UInt8]])
    func invalidUTF8IsRejected(bytes: [UInt8]) {
        #expect(read(frame(0x81, bytes)).violation?.closeCode == 1007)
        #expect(read(frame(0x81, bytes), piece: 1).violation?.closeCode == 1007)
        #expect(read(frame(0x82, bytes)).events == [.binary(Data(bytes))])
    }

    @Test func invalidUTF8IsRejectedBeforeItsMessageEnds() {
        #expect(read([0x01, 0x04, 0x61, 0xF4, 0x90]).violation?.closeCode == 1007)
    }

    @Test func aCharacterCanBeSplitAcrossFragments() {
        let bytes = Array("κόσμε 🌍".utf8)
        for split in 0...bytes.count {
            let (events, _) = read(frame(0x01, Array(bytes[..<split])) + frame(0x80, Array(bytes[split...])))
            #expect(events == [.text("κόσμε 🌍")])
        }
    }

    @Test func messagesHaveALimit() {
        #expect(read(frame(0x82, Array(repeating: 0, count: 101)), limit: 100).violation?.closeCode == 1009)
        #expect(read(frame(0x82, Array(repeating: 0, count: 100)), limit: 100).violation == nil)
        let fragments = frame(0x02, Array(repeating: 0, count: 60)) + frame(0x80, Array(repeating: 0, count: 60))
        #expect(read(fragments, limit: 100).violation?.closeCode == 1009)
        #expect(read([0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], limit: .max).violation == nil)
        #expect(read([0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]).violation?.closeCode == 1009)
    }

    @Test func compressedMessagesAreRead() throws {
        let deflate = MessageDeflate()
        let deflater = try #require(MessageDeflater(deflate))
        let texts = (0..<20).map { String(repeating: "message \($0), ", count: 50) }
        var bytes: [UInt8] = []
        for text in texts {
            let payload = [UInt8](try #require(deflater.compress(Array(text.utf8))))
            #expect(payload.count < text.utf8.count / 4)
            let half = payload.count / 2
            bytes += frame(0x41, Array(payload[..<half])) + frame(0x89, "?") + frame(0x80, Array(payload[half...]))
        }
        for piece in [1, 5, Int.max] {
            let (events, violation) = read(bytes, deflate: deflate, piece: piece)
            #expect(violation == nil)
            #expect(events.filter { $0 != .ping(Data("?".utf8)) } == texts.map { .text($0) })
        }
    }

    @Test func decompressedMessagesHaveALimit() throws {
        let deflater = try #require(MessageDeflater(MessageDeflate()))
        let bomb = [UInt8](try #require(deflater.compress([UInt8](repeating: 0, count: 50 << 20))))
        #expect(bomb.count < 100_000)
        let (events, violation) = read(frame(0xC2, bomb), deflate: MessageDeflate())
        #expect(events.isEmpty)
        #expect(violation?.closeCode == 1009)
    }

    @Test func invalidCompressedMessagesAreRejected() {
        #expect(read(frame(0xC2, [0xFF, 0xFF, 0xFF]), deflate: MessageDeflate()).violation?.closeCode == 1007)
        #expect(read([0x80 | 0x40, 0], deflate: MessageDeflate()).violation?.closeCode == 1002)
        #expect(read([0xC9, 0], deflate: MessageDeflate()).violation?.closeCode == 1002)
    }

    @Test func shortMessagesAreNotCompressed() throws {
        let deflater = try #require(MessageDeflater(MessageDeflate()))
        #expect(deflater.compress([UInt8](repeating: 0, count: 63)) == nil)
        #expect(deflater.compress([UInt8](repeating: 0, count: 64)) != nil)
    }

    /// RFC 7692, section 7.1.
    @Test func theNegotiatedExtensionIsParsed() throws {
        #expect(try MessageDeflate.agreement(in: []) == nil)
        #expect(try MessageDeflate.agreement(in: ["permessage-deflate"]) == MessageDeflate())
        let all = try MessageDeflate.agreement(in: [
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=10;"
                + " client_max_window_bits=\"9\""
        ])
        #expect(all?.serverKeepsContext == false)
        #expect(all?.clientKeepsContext == false)
        #expect(all?.clientWindowBits == 9)
        #expect(MessageDeflater(MessageDeflate(clientWindowBits: 8)) == nil)
    }

    @Test(arguments: [
        "x-webkit-deflate-frame", "permessage-deflate, permessage-deflate", "permessage-deflate; unknown",
        "permessage-deflate; server_max_window_bits", "permessage-deflate; server_max_window_bits=7",
        "permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; client_max_window_bits=+9",
        "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover", "permessage-deflate;",
    ])
    func unofferedExtensionsAreRejected(extensions: String) {
        #expect(throws: WebSocketViolation.self) { try MessageDeflate.agreement(in: [extensions]) }
    }

    @Test(arguments: [0, 1, 7, 8, 9, 125, 126, 65_535, 65_536, 70_001])
    func framesAreMasked(count: Int) throws {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let frame = [UInt8](WebSocketFrame.encode(.binary, payload, mask: 0x1234_5678))
        let headerLength = count < 126 ? 2 : count <= 0xFFFF ? 4 : 10
        #expect(frame[0] == 0x82)
        #expect(frame[1] & 0x80 != 0)
        let mask = Array(frame[headerLength..<(headerLength + 4)])
        #expect(mask == withUnsafeBytes(of: UInt32(0x1234_5678), Array.init))
        let unmasked = frame[(headerLength + 4)...].enumerated().map { $1 ^ mask[$0 % 4] }
        #expect(unmasked == payload)
        #expect(
            read([frame[0]] + [frame[1] & 0x7F] + frame[2..<headerLength] + unmasked).events == [.binary(Data(payload))]
        )
    }

    @Test func aReasonIsTruncatedAtACharacter() {
        let payload = WebSocketFrame.closePayload(code: 1000, reason: String(repeating: "ü", count: 100))
        #expect(payload.count == 124)
        #expect(String(validating: payload.dropFirst(2), as: UTF8.self) == String(repeating: "ü", count: 61))
        #expect(WebSocketFrame.closePayload(code: nil, reason: "unsaid").isEmpty)
    }
}
