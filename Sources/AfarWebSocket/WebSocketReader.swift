package import Foundation

/// Parses the messages that a server sends (RFC 6455, sections 5 and 6.2). The bytes can be divided at any position.
package struct WebSocketReader {
    /// A message or a control frame.
    package enum Event: Sendable, Hashable {
        case text(String)
        case binary(Data)
        case ping(Data)
        case pong(Data)
        /// The server is closing the connection. The code is nil if the server didn't send one.
        case close(code: UInt16?, reason: String)
    }

    /// A frame whose payload is being read.
    private struct Frame {
        let opcode: WebSocketFrame.Opcode
        let isFinal: Bool
        var remaining: Int
    }

    /// A message that has begun: the header of its first frame has been read.
    private struct Message {
        let isText: Bool
        let isCompressed: Bool
        var payload = Data()
        var check = UTF8Check()
    }

    private let maximumMessageSize: Int
    private let inflater: Inflater?
    /// The first bytes of a frame whose header is incomplete.
    private var header: [UInt8] = []
    private var frame: Frame?
    private var message: Message?
    private var control = Data()

    /// - Parameters:
    ///   - maximumMessageSize: The maximum size of a message in bytes, after decompression.
    ///   - deflate: The negotiated compression, if any.
    package init(maximumMessageSize: Int, deflate: MessageDeflate?) throws(WebSocketViolation) {
        self.maximumMessageSize = maximumMessageSize
        do {
            inflater = try deflate.map { try Inflater(keepsContext: $0.serverKeepsContext) }
        } catch {
            throw WebSocketViolation(closeCode: 1011, description: "no memory for decompression")
        }
    }

    /// Parses the next bytes.
    ///
    /// - Parameter receive: Called for each event, in order. Events before a violation are delivered.
    package mutating func read(
        _ bytes: Data, _ receive: (Event) -> Void
    ) throws(WebSocketViolation) {
        var result: Result<Void, WebSocketViolation> = .success(())
        bytes.withUnsafeBytes { bytes in
            result = Result { () throws(WebSocketViolation) in try read(bytes, receive) }
        }
        try result.get()
    }

    private mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ receive: (Event) -> Void
    ) throws(WebSocketViolation) {
        var rest = bytes[...]
        while true {
            if frame == nil {
                guard try readHeader(&rest) else { return }
            }
            guard var current = frame else { return }
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(current.remaining))
            rest = rest.dropFirst(part.count)
            current.remaining -= part.count
            if current.opcode.isControl { control.append(contentsOf: part) } else { try append(part) }
            frame = current
            guard current.remaining == 0 else { return }
            frame = nil
            if current.opcode.isControl {
                receive(try event(of: current.opcode))
            } else if current.isFinal {
                receive(try finishMessage())
            }
        }
    }

    // MARK: Headers

    /// Reads the header of a frame. Returns false if the header is incomplete.
    private mutating func readHeader(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(WebSocketViolation) -> Bool {
        while true {
            let length = header.count < 2 ? 2 : Self.headerLength(header[1])
            if header.count == length {
                frame = try begin()
                header.removeAll(keepingCapacity: true)
                return true
            }
            guard let byte = rest.popFirst() else { return false }
            header.append(byte)
            if header.count == 1 { try checkFirst(byte) }
        }
    }

    private static func headerLength(_ second: UInt8) -> Int {
        switch second & 0x7F {
        case 126: 4
        case 127: 10
        default: 2
        }
    }

    private func checkFirst(_ byte: UInt8) throws(WebSocketViolation) {
        guard let opcode = WebSocketFrame.Opcode(rawValue: byte & 0x0F) else {
            throw .protocolError("a frame has the unknown opcode \(byte & 0x0F)")
        }
        let canBeCompressed = inflater != nil && (opcode == .text || opcode == .binary)
        guard byte & 0x30 == 0, byte & 0x40 == 0 || canBeCompressed else {
            throw .protocolError("a frame has reserved bits set")
        }
        if opcode.isControl, byte & 0x80 == 0 { throw .protocolError("a control frame is fragmented") }
        if opcode == .continuation, message == nil { throw .protocolError("a continuation frame has no message") }
        if opcode == .text || opcode == .binary, message != nil {
            throw .protocolError("a message begins before the previous one has ended")
        }
    }

    /// Begins the frame whose header is complete.
    private mutating func begin() throws(WebSocketViolation) -> Frame {
        guard let opcode = WebSocketFrame.Opcode(rawValue: header[0] & 0x0F) else {
            throw .protocolError("a frame has an unknown opcode")
        }
        guard header[1] & 0x80 == 0 else { throw .protocolError("a frame from the server is masked") }
        let bytes = header.count == 2 ? header[1...] : header[2...]
        let length = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= UInt64(Int64.max) else { throw .protocolError("a frame's length is out of range") }
        if opcode.isControl {
            guard length <= UInt64(WebSocketFrame.maximumControlBytes) else {
                throw .protocolError("a control frame is longer than 125 bytes")
            }
            control.removeAll(keepingCapacity: true)
        } else {
            if opcode != .continuation {
                message = Message(isText: opcode == .text, isCompressed: header[0] & 0x40 != 0)
            }
            // The size of a compressed message is checked during decompression.
            guard let message, Int(length) <= maximumMessageSize - (message.isCompressed ? 0 : message.payload.count)
            else { throw .messageTooBig(maximumMessageSize) }
        }
        return Frame(opcode: opcode, isFinal: header[0] & 0x80 != 0, remaining: Int(length))
    }

    // MARK: Messages

    private mutating func append(_ part: UnsafeRawBufferPointer) throws(WebSocketViolation) {
        guard var message else { return }
        // This prevents a copy of the payload.
        self.message = nil
        if message.isCompressed {
            try inflate(part, into: &message)
        } else {
            message.payload.append(contentsOf: part)
            try check(part, in: &message)
        }
        self.message = message
    }

    private func inflate(
        _ part: UnsafeRawBufferPointer, into message: inout Message
    ) throws(WebSocketViolation) {
        let start = message.payload.count
        try inflater?.inflate(part, into: &message.payload, limit: maximumMessageSize)
        var failure: WebSocketViolation?
        message.payload.withUnsafeBytes { payload in
            guard message.isText, !message.check.accept(UnsafeRawBufferPointer(rebasing: payload[start...])) else {
                return
            }
            failure = .invalidText("a text is not UTF-8")
        }
        if let failure { throw failure }
    }

    private func check(
        _ part: UnsafeRawBufferPointer, in message: inout Message
    ) throws(WebSocketViolation) {
        guard message.isText, !message.check.accept(part) else { return }
        throw .invalidText("a text is not UTF-8")
    }

    private mutating func finishMessage() throws(WebSocketViolation) -> Event {
        guard var message else { return .binary(Data()) }
        self.message = nil
        if message.isCompressed {
            // The sender omits these last bytes of a compressed message (RFC 7692, section 7.2.2).
            let end: [UInt8] = [0, 0, 0xFF, 0xFF]
            var result: Result<Void, WebSocketViolation> = .success(())
            end.withUnsafeBytes { end in
                result = Result { () throws(WebSocketViolation) in try inflate(end, into: &message) }
            }
            try result.get()
            inflater?.messageEnded()
        }
        guard message.isText else { return .binary(message.payload) }
        guard message.check.isComplete else { throw .invalidText("a text ends with an incomplete character") }
        return .text(String(decoding: message.payload, as: UTF8.self))
    }

    private func event(of opcode: WebSocketFrame.Opcode) throws(WebSocketViolation) -> Event {
        switch opcode {
        case .ping: return .ping(control)
        case .pong: return .pong(control)
        default: return try close()
        }
    }

    private func close() throws(WebSocketViolation) -> Event {
        guard !control.isEmpty else { return .close(code: nil, reason: "") }
        guard control.count >= 2 else { throw .protocolError("a close frame has an incomplete code") }
        let code = control.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        guard Self.isValid(code) else { throw .protocolError("\(code) is not a valid close code") }
        guard let reason = String(validating: control.dropFirst(2), as: UTF8.self) else {
            throw .invalidText("the reason of a close is not UTF-8")
        }
        return .close(code: code, reason: reason)
    }

    /// Whether a close frame can contain a code (RFC 6455, section 7.4, and IANA's registry).
    package static func isValid(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

// MARK: - Text

/// Checks incrementally whether bytes are valid UTF-8 (RFC 3629, section 4), so invalid text is rejected as early as possible.
struct UTF8Check {
    /// The number of bytes that the current character still requires.
    private var missing = 0
    /// The valid range of the next byte.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the last character is complete.
    var isComplete: Bool { missing == 0 }

    /// Checks the next bytes. Returns false if they make the text invalid.
    mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset < bytes.count {
            if missing == 0, offset + 8 <= bytes.count,
                bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                offset += 8
                continue
            }
            guard accept(bytes[offset]) else { return false }
            offset += 1
        }
        return true
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard allowed.contains(byte) else { return false }
            (missing, allowed) = (missing - 1, 0x80...0xBF)
            return true
        }
        switch byte {
        case 0...0x7F: return true
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, allowed) = (2, 0xA0...0xBF)
        case 0xED: (missing, allowed) = (2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, allowed) = (3, 0x90...0xBF)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, allowed) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }
}

// MARK: - Violations

/// A violation of the protocol by the server. The connection is closed with the violation's code (RFC 6455, section 7.4.1).
package struct WebSocketViolation: Error, Hashable, CustomStringConvertible {
    package let closeCode: UInt16
    package let description: String

    static func protocolError(_ description: String) -> Self { Self(closeCode: 1002, description: description) }
    static func invalidText(_ description: String) -> Self { Self(closeCode: 1007, description: description) }
    static func messageTooBig(_ limit: Int) -> Self {
        Self(closeCode: 1009, description: "a message exceeds the limit of \(limit) bytes")
    }
}
