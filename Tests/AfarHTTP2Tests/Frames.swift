import AfarHTTP1
import AfarTransport
import CNghttp2
import HTTPTypes
import TestServers

@testable import AfarHTTP2

/// Builds frames by hand (RFC 9113, sections 4 and 6).
enum Frames {
    static func frame(_ type: UInt8, flags: UInt8 = 0, _ id: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        HTTP2Frame(type, flags: flags, stream: UInt32(id), payload).bytes
    }

    static func bytes(_ number: UInt32) -> [UInt8] { HTTP2Frame.number(number) }

    static let settings = frame(4)
    static let settingsAcknowledgement = frame(4, flags: 1)

    static func settings(_ values: [(UInt16, UInt32)]) -> [UInt8] {
        frame(4, values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + bytes($0.1) })
    }

    static func frame(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] { frame(type, flags: 0, 0, payload) }

    /// A header block of literals that aren't indexed (RFC 7541, section 6.2.2).
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in HTTP2Frame.field(name, value) }
    }

    static func headers(
        _ id: Int32, _ fields: [(String, String)], endsStream: Bool = false, endsHeaders: Bool = true
    ) -> [UInt8] {
        frame(1, flags: (endsStream ? 1 : 0) | (endsHeaders ? 4 : 0), id, block(fields))
    }

    static func ok(_ id: Int32, _ fields: [(String, String)] = [], endsStream: Bool = false) -> [UInt8] {
        headers(id, [(":status", "200")] + fields, endsStream: endsStream)
    }

    static func data(_ id: Int32, _ text: String, endsStream: Bool = false) -> [UInt8] {
        frame(0, flags: endsStream ? 1 : 0, id, Array(text.utf8))
    }

    static func reset(_ id: Int32, _ code: UInt32) -> [UInt8] { frame(3, flags: 0, id, bytes(code)) }

    static func goAway(_ last: Int32, _ code: UInt32 = 0, _ debug: String = "") -> [UInt8] {
        frame(7, bytes(UInt32(last)) + bytes(code) + Array(debug.utf8))
    }

    static func windowUpdate(_ id: Int32, _ increment: UInt32) -> [UInt8] { frame(8, flags: 0, id, bytes(increment)) }

    static let ping = frame(6, [UInt8](repeating: 7, count: 8))
}

/// Records the events of a stream, and provides a body.
final class Recorder: HTTP2StreamHandler {
    var events: [String] = []
    var body: [UInt8] = []
    var head: ResponseHead?
    var failure: HTTP2StreamFailure?
    var terminalCount = 0
    /// Whether an event followed the end.
    var hasLateEvent = false
    var parts: [HTTP2BodyPart] = []
    var partBytes: [UInt8] = []
    var readCount = 0
    /// Called for each part of the body, and for each head.
    var onBody: ((Int) -> Void)?
    var onHead: (() -> Void)?
    var onFailure: (() -> Void)?

    var text: String { events.joined(separator: " | ") }
    var isComplete: Bool { events.last == "end" }

    private func add(_ event: String) {
        if terminalCount > 0 { hasLateEvent = true }
        events.append(event)
    }

    private static func describe(_ head: ResponseHead) -> String {
        (["\(head.status)"] + head.fields.map { "\($0.name.rawName)=\($0.value)" }).joined(separator: " ")
    }

    func streamDidReceiveInformational(_ head: ResponseHead) { add("informational \(Self.describe(head))") }

    func streamDidReceiveHead(_ head: ResponseHead) {
        self.head = head
        add("head \(Self.describe(head))")
        onHead?()
    }

    func streamDidReceiveBody(_ bytes: UnsafeRawBufferPointer) {
        if terminalCount > 0 { hasLateEvent = true }
        body += bytes
        if events.last != "body" { add("body") }
        onBody?(bytes.count)
    }

    func streamDidReceiveTrailers(_ trailers: HTTPFields) {
        add("trailers " + trailers.map { "\($0.name.rawName)=\($0.value)" }.joined(separator: " "))
    }

    func streamDidEnd() {
        add("end")
        terminalCount += 1
    }

    func streamDidFail(_ failure: HTTP2StreamFailure) {
        self.failure = failure
        add("\(failure.fault.code)" + (failure.isUnprocessed ? " unprocessed" : ""))
        terminalCount += 1
        onFailure?()
    }

    /// Returns the parts in order. The bytes of `.bytes` come from `partBytes`; without parts, all bytes are sent in pieces.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> HTTP2BodyPart {
        readCount += 1
        if !parts.isEmpty {
            let part = parts.removeFirst()
            if case .bytes(let count, _) = part, count <= buffer.count, count >= 0 {
                buffer.copyBytes(from: partBytes.prefix(count))
                partBytes.removeFirst(min(count, partBytes.count))
            }
            return part
        }
        let count = min(partBytes.count, buffer.count)
        buffer.copyBytes(from: partBytes.prefix(count))
        partBytes.removeFirst(count)
        return .bytes(count, isLast: partBytes.isEmpty)
    }
}

/// A frame that the client has written.
struct WrittenFrame: Equatable, CustomStringConvertible {
    let type: UInt8
    let flags: UInt8
    let id: Int32
    let payload: [UInt8]

    var description: String { "\(type)/\(flags) \(id) \(payload.prefix(24))" }
    var number: UInt32 { payload.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    var isReset: Bool { type == 3 }
    /// The error code of a GOAWAY frame.
    var goAwayCode: UInt32? { type == 7 ? payload[4..<8].reduce(0) { $0 << 8 | UInt32($1) } : nil }
}

extension HTTP2Session {
    /// Returns all bytes that can be written, in pieces of at most this size.
    func output(pieceSize: Int = 16_384) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: pieceSize)
        while true {
            let count = buffer.withUnsafeMutableBytes { write(into: $0) }
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// Returns the frames of the output, without the preface.
    func frames() -> [WrittenFrame] {
        var rest = output()[...]
        if rest.starts(with: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) { rest = rest.dropFirst(24) }
        var frames: [WrittenFrame] = []
        while rest.count >= 9 {
            let header = Array(rest.prefix(9)).withUnsafeBytes { FrameHeader($0[...]) }
            rest = rest.dropFirst(9)
            frames.append(
                WrittenFrame(
                    type: header.type, flags: header.flags, id: header.streamID,
                    payload: Array(rest.prefix(header.length))
                ))
            rest = rest.dropFirst(header.length)
        }
        return frames
    }

    func receive(_ bytes: [UInt8], pieceSize: Int = .max) throws(Fault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieceSize))
            rest = rest.dropFirst(piece.count)
            try piece.withUnsafeBytes { bytes in Result { () throws(Fault) in try receive(bytes) } }.get()
        }
    }

    func get(
        _ recorder: Recorder, _ method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
        body: RequestHead.BodyFraming = .none
    ) throws -> Int32 {
        let request = HTTPRequest(
            method: method, scheme: "https", authority: "example.org", path: "/a?b", headerFields: fields)
        return try submit(request, body: body, url: "https://example.org/a?b", handler: recorder)
    }
}
