import AfarTransport
import Foundation

/// A bidirectional stream of bytes: a socket, or TLS over another stream. Reading and writing never block.
protocol ByteStream: AnyObject {
    /// Whether reading might return something other than ``StreamResult/wouldBlock``.
    var canRead: Bool { get }
    /// Whether writing might return something other than ``StreamResult/wouldBlock``.
    var canWrite: Bool { get }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamResult

    /// Writes at least one byte. If the result is ``StreamResult/wouldBlock``, the next call must begin with the same
    /// bytes.
    func write(_ bytes: UnsafeRawBufferPointer) -> StreamResult

    /// Returns false if unsolicited data or the end of the connection has arrived. This method processes TLS messages, such as
    /// session tickets. They don't count as data.
    func isIdle() -> Bool
}

enum StreamResult {
    case bytes(Int)
    case wouldBlock
    /// The peer has finished sending.
    ///
    /// - Parameter isClean: Whether the end is authentic. Anyone on the network can end the TCP connection below TLS.
    case end(isClean: Bool)
    indirect case failed(Fault)
}

/// A connected socket. It stores the events that its loop has reported.
final class SocketStream: ByteStream {
    let descriptor: Int32
    @exclusivity(unchecked) private var isReadable = false
    @exclusivity(unchecked) private var isWritable = true
    /// Whether the peer has closed its side, or the connection is broken.
    @exclusivity(unchecked) private(set) var hasHungUp = false
    /// The first error, except EPIPE (the peer has closed its side). If a write has failed, later reads fail with the same
    /// error. The operating system reports an error only once, so these reads would otherwise appear to reach the end.
    @exclusivity(unchecked) private var fault: Fault?
    /// Whether reading has failed.
    @exclusivity(unchecked) private var isBroken = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    var canRead: Bool { isReadable || isBroken }
    var canWrite: Bool { isWritable }

    func update(_ event: SocketEvent) {
        if event.isReadable { isReadable = true }
        if event.isWritable { isWritable = true }
        if event.hasHungUp { hasHungUp = true }
    }

    /// Makes the next read query the socket, even if no event was reported.
    func expectBytes() { isReadable = true }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamResult {
        while isReadable {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 {
                // A short read means that the socket is empty.
                if count < buffer.count, !hasHungUp { isReadable = false }
                return .bytes(count)
            }
            if count == 0 {
                if fault == nil { return .end(isClean: true) }
                isBroken = true
            } else if errno != EINTR {
                isReadable = false
                if errno != EAGAIN { isBroken = true; note(errno) }
            }
            if isBroken { break }
        }
        if isBroken, let fault { return .failed(fault) }
        return .wouldBlock
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamResult {
        while isWritable {
            let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 {
                if count < bytes.count { isWritable = false }
                return .bytes(count)
            }
            if errno == EINTR { continue }
            isWritable = false
            // Bytes that arrived earlier are still readable.
            if errno == EPIPE { return .failed(fault ?? Self.fault(EPIPE)) }
            if errno != EAGAIN { return .failed(note(errno)) }
        }
        return .wouldBlock
    }

    @discardableResult
    private func note(_ code: Int32) -> Fault {
        let first = fault ?? Self.fault(code)
        fault = first
        return first
    }

    private static func fault(_ code: Int32) -> Fault {
        Fault(.connectionLost, "the connection was lost", systemError: code)
    }

    func isIdle() -> Bool {
        var byte: UInt8 = 0
        isReadable = false
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) < 0 && errno == EAGAIN
    }
}
