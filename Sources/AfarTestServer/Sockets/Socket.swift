import Foundation

/// A TCP socket with blocking calls.
///
/// One thread owns a socket: only that thread reads, writes and closes. Any other thread can call `shutdown`, which makes the
/// owner's blocked call return.
final class Socket: Sendable {
    /// Why a wait for the peer ended.
    enum WaitResult {
        case timedOut
        case peerClosed
        case woken
    }

    let descriptor: Int32
    private let isOpen = Locked(true)

    init() throws {
        descriptor = SocketPlatform.openStream()
        guard descriptor >= 0 else { throw SocketFailure("socket") }
    }

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close()
    }

    // MARK: Transfer

    /// Reads bytes. Blocks until some have arrived. Returns 0 at the end of the stream.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 { return count }
            guard errno == EINTR else { throw SocketFailure("recv") }
        }
    }

    /// Writes bytes. Blocks until the system has accepted all of them.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = send(descriptor, part.baseAddress, part.count, SocketPlatform.sendFlags)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw SocketFailure("send")
            }
        }
    }

    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// Waits, without reading, until the peer closes, the time has passed or `wakeup` is signaled.
    ///
    /// - Parameters:
    ///   - seconds: The maximum wait; `nil` for no limit.
    ///   - wakeup: Ends the wait early.
    ///   - halfClose: Whether a peer that has only finished sending counts as closed.
    func waitForPeer(seconds: Double? = nil, wakeup: Wakeup? = nil, halfClose: Bool = true) -> WaitResult {
        let deadline = seconds.map { DispatchTime.now().uptimeSeconds + $0 }
        let events = halfClose ? SocketPlatform.peerClosedEvent : 0
        while true {
            var entries = [
                pollfd(fd: descriptor, events: events, revents: 0),
                pollfd(fd: wakeup?.readEnd ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let left = deadline.map { max(0, $0 - DispatchTime.now().uptimeSeconds) }
            let milliseconds = left.map { Int32(min(($0 * 1000).rounded(.up), 3_600_000)) } ?? -1
            let ready = poll(&entries, nfds_t(entries.count), milliseconds)
            if entries[0].revents != 0 && ready > 0 { return .peerClosed }
            if entries[1].revents != 0 && ready > 0 { return .woken }
            if let left, left <= 0 { return .timedOut }
            if ready < 0 && errno != EINTR { return .peerClosed }
        }
    }

    // MARK: Ending

    /// Ends both directions. Blocked calls of `read`, `write` and `waitForPeer` return.
    func shutdown() {
        isOpen.withLock { if $0 { _ = Foundation.shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    func finishWriting() {
        _ = Foundation.shutdown(descriptor, Int32(SHUT_WR))
    }

    func close() {
        isOpen.withLock {
            if $0 { _ = Foundation.close(descriptor) }
            $0 = false
        }
    }

    /// Closes the connection with a reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    // MARK: Options

    /// Sends small writes immediately. Otherwise, a delayed acknowledgment would cost 40 ms.
    func disableDelay() {
        var on: Int32 = 1
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    func disableBlocking() {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
}

extension DispatchTime {
    fileprivate var uptimeSeconds: Double { Double(uptimeNanoseconds) / 1e9 }
}

// MARK: - Loopback

extension Socket {
    /// Binds to a port of 127.0.0.1.
    ///
    /// - Parameter port: The port, or 0 for any free one.
    /// - Returns: The port.
    func bindToLoopback(port: UInt16 = 0) throws -> UInt16 {
        try withLoopbackAddress(port: port) { address, length in
            guard bind(descriptor, address, length) == 0 else { throw SocketFailure("bind") }
        }
        var bound = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw SocketFailure("getsockname") }
        return UInt16(bigEndian: bound.sin_port)
    }

    func listen(backlog: Int32) throws {
        guard Foundation.listen(descriptor, backlog) == 0 else { throw SocketFailure("listen") }
    }

    /// Connects to a port of 127.0.0.1. A non-blocking socket only begins to connect.
    func connect(port: UInt16) throws {
        try withLoopbackAddress(port: port) { address, length in
            guard Foundation.connect(descriptor, address, length) == 0 || errno == EINPROGRESS else {
                throw SocketFailure("connect")
            }
        }
    }

    /// Returns whether a pending connection attempt completes within a time limit.
    func isConnected(within seconds: Double) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, Int32(seconds * 1000)) > 0
    }

    private func withLoopbackAddress(
        port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) rethrows {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try withUnsafePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

// MARK: - Failures

/// A failed system call on a socket.
public struct SocketFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the system call, such as `bind`.
    public let operation: String

    /// The value of `errno` after the call.
    public let code: Int32

    /// The operation, the system's message for the code, and the code.
    public var description: String {
        "\(operation): \(String(cString: strerror(code))) (errno \(code))"
    }

    init(_ operation: String, code: Int32 = errno) {
        self.operation = operation
        self.code = code
    }
}

// MARK: - Buffered reading

/// Reads from a socket through a buffer, up to a terminator or a number of bytes.
struct BufferedSocket {
    /// Why reading up to a terminator failed.
    enum Failure: Error {
        case truncated
        case tooLong
    }

    let socket: Socket
    /// A closure that is called with all bytes as they arrive.
    private let tap: ((UnsafeRawBufferPointer) -> Void)?
    private var storage = [UInt8](repeating: 0, count: 65_536)
    private var unread = 0..<0

    init(_ socket: Socket, tap: ((UnsafeRawBufferPointer) -> Void)? = nil) {
        self.socket = socket
        self.tap = tap
    }

    /// Passes the next bytes, at most `limit`, to `body`. Returns their number, or 0 at the end of the stream.
    mutating func read(atMost limit: Int, _ body: (UnsafeRawBufferPointer) -> Void = { _ in }) throws -> Int {
        guard try fill() else { return 0 }
        let part = unread.prefix(limit)
        storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[part])) }
        unread = part.endIndex..<unread.upperBound
        return part.count
    }

    /// Returns the bytes up to and including a terminator that ends in a line feed; `nil` at the end of the stream.
    mutating func read(through terminator: [UInt8], limit: Int) throws -> [UInt8]? {
        var result: [UInt8] = []
        while try fill() {
            let line = storage.withUnsafeBytes { bytes in
                UnsafeRawBufferPointer(rebasing: bytes[unread]).firstIndex(of: 10).map { $0 + 1 }
            }
            let part = unread.prefix(line ?? unread.count)
            result += storage[part]
            unread = part.endIndex..<unread.upperBound
            if result.suffix(terminator.count).elementsEqual(terminator) { return result }
            guard result.count < limit else { throw Failure.tooLong }
        }
        guard result.isEmpty else { throw Failure.truncated }
        return nil
    }

    private mutating func fill() throws -> Bool {
        guard unread.isEmpty else { return true }
        let count = try storage.withUnsafeMutableBytes { try socket.read(into: $0) }
        unread = 0..<count
        if let tap, count > 0 {
            storage.withUnsafeBytes { tap(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        return count > 0
    }
}
