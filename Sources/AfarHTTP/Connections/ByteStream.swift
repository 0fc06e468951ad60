import AfarTransport
import Foundation

/// Bytes in both directions: a socket, or TLS over another stream. Reading and writing never block.
protocol ByteStream: AnyObject {
    /// Whether reading may return something other than ``StreamResult/wouldBlock``.
    var mayRead: Bool { get }
    /// Whether writing may return something other than ``StreamResult/wouldBlock``.
    var mayWrite: Bool { get }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamResult

    /// Writes bytes that aren't empty. If it would block, the next call must begin with the same bytes.
    func write(_ bytes: UnsafeRawBufferPointer) -> StreamResult

    /// Whether nothing has arrived that belongs to no request: neither data nor the end. Messages of TLS itself, such as session tickets,
    /// are processed here and don't count.
    func isQuiet() -> Bool
}

enum StreamResult {
    case bytes(Int)
    case wouldBlock
    /// The peer sends no more.
    ///
    /// - Parameter isClean: Whether the end is authentic. Over TLS, anyone on the network can end the TCP connection.
    case end(isClean: Bool)
    indirect case failed(Fault)
}

/// A socket that is connected. It remembers what its loop has reported about it.
final class SocketStream: ByteStream {
    let descriptor: Int32
    @exclusivity(unchecked) private var isReadable = false
    @exclusivity(unchecked) private var isWritable = true
    /// Whether the peer has closed its side, or the connection is broken.
    @exclusivity(unchecked) private(set) var hasHungUp = false
    /// The first error, except that the peer has closed its side (EPIPE), which reading finds too. The operating system reports an error
    /// once; what it reports afterward looks like the end.
    @exclusivity(unchecked) private var fault: Fault?
    /// Whether reading has failed.
    @exclusivity(unchecked) private var isBroken = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    var mayRead: Bool { isReadable || isBroken }
    var mayWrite: Bool { isWritable }

    func update(_ event: Poller.Event) {
        if event.isReadable { isReadable = true }
        if event.isWritable { isWritable = true }
        if event.hasHungUp { hasHungUp = true }
    }

    /// The next read asks the operating system, even if no event was reported.
    func expectBytes() { isReadable = true }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamResult {
        while isReadable {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 {
                // A short read has emptied the socket. The next bytes are an event of their own.
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
            // What has arrived before can still be read.
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
        Fault(.connectionLost, "the connection broke", systemError: code)
    }

    func isQuiet() -> Bool {
        var byte: UInt8 = 0
        isReadable = false
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) < 0 && errno == EAGAIN
    }
}
