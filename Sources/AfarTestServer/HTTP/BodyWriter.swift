public import Foundation

/// Writes the body of one response to the client. Not to be used after the closure that was given it has returned.
public final class BodyWriter {
    /// Thrown by writes and waits when nobody is there to read: the client has left or the server is stopping.
    public struct ClientGone: Error {}

    private let socket: Socket
    private let isChunked: Bool
    private var head: [UInt8]
    private(set) var count = 0

    init(socket: Socket, head: [UInt8], isChunked: Bool) {
        self.socket = socket
        self.head = head
        self.isChunked = isChunked
    }

    /// Sends bytes at once; in a chunked body each call makes one chunk. Blocks while the client does not read.
    ///
    /// - Throws: ``ClientGone``.
    public func write(_ data: Data) throws {
        try data.withUnsafeBytes { try write(bytes: $0) }
    }

    /// Sends text as UTF-8 at once.
    ///
    /// - Throws: ``ClientGone``.
    public func write(_ text: String) throws {
        try write(Data(text.utf8))
    }

    /// Waits while nothing is sent.
    ///
    /// - Parameter seconds: How long to wait, at most.
    /// - Throws: ``ClientGone``, as soon as the client closes the connection or the server stops.
    public func wait(seconds: Double) throws {
        try flush()
        guard socket.waitForPeer(seconds: seconds) == .timedOut else { throw ClientGone() }
    }

    func write(bytes: UnsafeRawBufferPointer) throws {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        // Small writes travel with what precedes them; a large one is not worth copying.
        if isChunked { head += Array((String(bytes.count, radix: 16) + "\r\n").utf8) }
        if bytes.count <= 65_536 {
            head += bytes
        } else {
            try flush()
            try send(bytes)
        }
        if isChunked { head += [13, 10] }
        try flush()
    }

    func finish() throws {
        if isChunked { head += Array("0\r\n\r\n".utf8) }
        try flush()
    }

    private func flush() throws {
        guard !head.isEmpty else { return }
        try head.withUnsafeBytes { try send($0) }
        head.removeAll(keepingCapacity: true)
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws {
        do {
            try socket.write(bytes)
        } catch {
            throw ClientGone()
        }
    }
}
