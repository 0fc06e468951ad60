import Foundation

/// A TCP socket with blocking calls.
///
/// One thread owns a socket: it alone reads, writes and closes. Any other thread may call `shutdown`, which makes the
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

    /// Waits for bytes; 0 is the end of the stream.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 { return count }
            guard errno == EINTR else { throw SocketFailure("recv") }
        }
    }

    /// Waits until the system has taken all the bytes.
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

    /// Waits without reading until the peer closes, the time is over or `wakeup` is woken.
    ///
    /// - Parameters:
    ///   - seconds: The longest wait; `nil` is for ever.
    ///   - wakeup: Ends the wait early.
    ///   - halfClose: Whether a peer that has only closed its sending half counts as closed.
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

    /// Ends both directions; what is blocked in `read`, `write` or `waitForPeer` returns.
    func shutdown() {
        isOpen.withLock { if $0 { _ = Foundation.shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    /// Says to the peer that no more bytes follow.
    func finishWriting() {
        _ = Foundation.shutdown(descriptor, Int32(SHUT_WR))
    }

    func close() {
        isOpen.withLock {
            if $0 { _ = Foundation.close(descriptor) }
            $0 = false
        }
    }

    /// Closes such that the peer gets a reset instead of an orderly end.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    // MARK: Options

    /// Sends small writes at once: a delayed acknowledgement would otherwise cost 40 ms.
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
