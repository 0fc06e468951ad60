import AfarTransport
import CZlib
package import Foundation

/// The negotiated parameters of message compression (RFC 7692, section 7.1).
package struct MessageDeflate: Sendable, Hashable {
    /// Whether the server uses earlier messages when it compresses a message.
    package var serverKeepsContext = true
    /// Whether the client uses earlier messages when it compresses a message.
    package var clientKeepsContext = true
    /// The maximum size of the client's window, as a power of two.
    package var clientWindowBits: Int32 = 15

    package init(clientWindowBits: Int32 = 15) { self.clientWindowBits = clientWindowBits }

    /// The client's offer, for `Sec-WebSocket-Extensions`.
    package static let offer = "permessage-deflate; client_max_window_bits"

    /// Returns the parameters that a server accepted in response to ``offer``, or nil if the server declined compression.
    ///
    /// - Parameter extensions: The values of `Sec-WebSocket-Extensions`.
    /// - Throws: ``WebSocketViolation`` if the server uses an extension or a parameter that was not offered. After this error,
    ///   the connection must be closed.
    package static func agreement(in extensions: [String]) throws(WebSocketViolation) -> MessageDeflate? {
        let agreed = FieldScanner.elements(of: extensions)
        guard let first = agreed.first else { return nil }
        guard agreed.count == 1 else {
            throw .protocolError("the server accepted more than was offered: \(agreed.joined(separator: ", "))")
        }
        var scanner = FieldScanner(first)
        guard scanner.token()?.lowercased() == "permessage-deflate" else {
            throw .protocolError("the server accepted \"\(first)\", which was not offered")
        }
        var deflate = MessageDeflate()
        var seen: Set<String> = []
        while scanner.next != nil {
            guard let (name, value) = scanner.extensionParameter() else {
                throw .protocolError("\"\(first)\" is not a valid extension")
            }
            let bits = value.flatMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int32($0) : nil }
            guard seen.insert(name).inserted else { throw .protocolError("\"\(name)\" occurs twice in \"\(first)\"") }
            switch (name, value, bits) {
            case ("server_no_context_takeover", nil, _): deflate.serverKeepsContext = false
            case ("client_no_context_takeover", nil, _): deflate.clientKeepsContext = false
            // The largest window can decompress data of any window size.
            case ("server_max_window_bits", _, let bits?) where (8...15).contains(bits): break
            case ("client_max_window_bits", _, let bits?) where (8...15).contains(bits):
                deflate.clientWindowBits = bits
            default: throw .protocolError("\"\(name)\" in \"\(first)\" is not a valid parameter")
            }
        }
        return deflate
    }
}

extension FieldScanner {
    /// Reads the next parameter of an extension, with its name in lowercase (RFC 6455, section 9.1). Returns nil if it is invalid.
    fileprivate mutating func extensionParameter() -> (name: String, value: String?)? {
        skipSpaces()
        guard skip(";") else { return nil }
        skipSpaces()
        guard let name = token()?.lowercased() else { return nil }
        skipSpaces()
        guard skip("=") else { return (name, nil) }
        skipSpaces()
        guard let value = quotedString() ?? token() else { return nil }
        skipSpaces()
        return (name, value)
    }
}

/// Compresses messages (RFC 7692, section 7.2.1). Use it on one thread at a time.
package final class MessageDeflater {
    /// The minimum size of a message to compress, in bytes. Compressing a shorter message wouldn't save anything.
    private static let leastBytes = 64

    /// zlib keeps the stream's address, so the stream must not move.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let keepsContext: Bool

    /// Returns nil if zlib doesn't support the negotiated parameters. In this case, messages are sent uncompressed.
    package init?(_ agreement: MessageDeflate) {
        keepsContext = agreement.clientKeepsContext
        stream.initialize(to: z_stream())
        // zlib doesn't support a window of 256 bytes.
        let isPossible =
            agreement.clientWindowBits >= 9
            && deflateInit2_(
                stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -agreement.clientWindowBits, 8, Z_DEFAULT_STRATEGY,
                ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        if !isPossible { return nil }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Returns the compressed message, or nil if the message must be sent uncompressed.
    package func compress(_ message: some ContiguousBytes) -> Data? {
        message.withUnsafeBytes { bytes in
            guard (Self.leastBytes...Int(Int32.max)).contains(bytes.count) else { return nil }
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            var result = Data()
            let isDone = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32 * 1024) { buffer in
                repeat {
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(buffer.count)
                    let status = deflate(stream, Z_SYNC_FLUSH)
                    guard status == Z_OK || status == Z_BUF_ERROR else { return false }
                    result.append(contentsOf: buffer.prefix(buffer.count - Int(stream.pointee.avail_out)))
                } while stream.pointee.avail_out == 0
                return true
            }
            guard isDone, result.suffix(4).elementsEqual([0, 0, 0xFF, 0xFF]) else { return nil }
            if !keepsContext { deflateReset(stream) }
            return result.dropLast(4)
        }
    }
}

/// Decompresses messages (RFC 7692, section 7.2.2). Use it on one thread at a time.
final class Inflater: @unchecked Sendable {
    // Sendable because only one task at a time uses it.

    /// zlib keeps the stream's address, so the stream must not move.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let keepsContext: Bool

    init(keepsContext: Bool) throws {
        self.keepsContext = keepsContext
        stream.initialize(to: z_stream())
        let status = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw CocoaError(.coderReadCorrupt) }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// - Parameter limit: The maximum length of the result.
    func inflate(
        _ part: UnsafeRawBufferPointer, into result: inout Data, limit: Int
    ) throws(WebSocketViolation) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: part.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: part.count)
        var failure: WebSocketViolation?
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32 * 1024) { buffer in
            repeat {
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(buffer.count)
                let status = CZlib.inflate(stream, Z_SYNC_FLUSH)
                result.append(contentsOf: buffer.prefix(buffer.count - Int(stream.pointee.avail_out)))
                switch status {
                case _ where result.count > limit: failure = .messageTooBig(limit)
                case Z_OK: break
                // There was no input left.
                case Z_BUF_ERROR: return
                // The message ended with a final block. Another message can follow.
                case Z_STREAM_END: inflateReset(stream)
                default: failure = .invalidText("a compressed message cannot be decompressed")
                }
            } while failure == nil && (stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0)
        }
        if let failure { throw failure }
    }

    func messageEnded() { if !keepsContext { inflateReset(stream) } }
}
