import CEpoll
import CLibcurl
import Foundation

/// The kernel's side of a loop: epoll for the sockets, and an eventfd by which other threads wake it.
final class Poller: @unchecked Sendable {
    // Sendable because the descriptors never change; `wake` is the only method called from other threads.
    enum Event {
        case woken
        /// A socket of the pool with this number is ready; the bits are libcurl's `CURL_CSELECT_…`.
        case socket(Int32, pool: UInt32, bits: Int32)
        /// The same of a socket that is in no pool.
        case watched(Int32, bits: Int32)
    }

    private static let wakeTag = UInt64.max
    /// Stands for the pool of sockets that are in none.
    private static let noPool = UInt32.max - 1
    private let epoll: Int32
    private let eventfd: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>

    init() throws {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EMFILE) }
        eventfd = afar_eventfd()
        guard eventfd >= 0 else {
            let code = errno
            close(epoll)
            throw POSIXError(.init(rawValue: code) ?? .EMFILE)
        }
        events = .allocate(capacity: 1024)
        // Edge-triggered: each write is one event, and the counter needs no reading.
        _ = afar_epoll_set(
            epoll, EPOLL_CTL_ADD, eventfd, EPOLLIN.rawValue | EPOLLET.rawValue, Self.wakeTag)
    }

    deinit {
        close(eventfd)
        close(epoll)
        events.deallocate()
    }

    /// Makes `wait` return. May be called from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = write(eventfd, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits for events until so many milliseconds have passed; −1 waits for ever.
    ///
    /// - Returns: How many there are. They stay until the next call.
    func wait(milliseconds: Int32) -> Int {
        max(0, Int(epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)))
    }

    /// One of the events that were waited for.
    func event(_ index: Int) -> Event {
        let event = events[index]
        let tag = withUnsafePointer(to: event, afar_epoll_tag)
        guard tag != Self.wakeTag else { return .woken }
        let socket = Int32(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        let (pool, bits) = (UInt32(tag >> 32), Self.selectBits(event.events))
        return pool == Self.noPool ? .watched(socket, bits: bits) : .socket(socket, pool: pool, bits: bits)
    }

    /// From now on there is an event each time that something becomes possible on a socket, until it is closed. Returns
    /// whether the kernel agrees.
    func watch(_ socket: Int32) -> Bool {
        let tag = UInt64(Self.noPool) << 32 | UInt64(UInt32(bitPattern: socket))
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        return afar_epoll_set(epoll, EPOLL_CTL_ADD, socket, events, tag) == 0
    }

    func apply(_ change: SocketInterests.Change, pool: UInt32) {
        switch change {
        case .add(let socket, let events): set(socket, events, pool, EPOLL_CTL_ADD, ifRefused: EPOLL_CTL_MOD)
        case .modify(let socket, let events): set(socket, events, pool, EPOLL_CTL_MOD, ifRefused: EPOLL_CTL_ADD)
        case .remove(let socket): _ = afar_epoll_set(epoll, EPOLL_CTL_DEL, socket, 0, 0)
        }
    }

    /// A socket can have been closed and opened again under the same number, so that the kernel knows more or less of it
    /// than we remember.
    private func set(_ socket: Int32, _ events: UInt32, _ pool: UInt32, _ operation: Int32, ifRefused other: Int32) {
        let tag = UInt64(pool) << 32 | UInt64(UInt32(bitPattern: socket))
        if afar_epoll_set(epoll, operation, socket, events, tag) != 0, errno == EEXIST || errno == ENOENT {
            _ = afar_epoll_set(epoll, other, socket, events, tag)
        }
    }

    /// The epoll events for libcurl's `CURL_POLL_…`.
    static func events(for what: Int32) -> UInt32 {
        switch what {
        case CURL_POLL_IN: EPOLLIN.rawValue
        case CURL_POLL_OUT: EPOLLOUT.rawValue
        case CURL_POLL_INOUT: EPOLLIN.rawValue | EPOLLOUT.rawValue
        default: 0
        }
    }

    private static func selectBits(_ events: UInt32) -> Int32 {
        var bits: Int32 = 0
        if events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0 { bits |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { bits |= CURL_CSELECT_OUT }
        if events & EPOLLERR.rawValue != 0 { bits |= CURL_CSELECT_ERR }
        return bits
    }
}
