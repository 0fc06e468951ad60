import CEpoll
import Foundation

/// The kernel's side of a loop: epoll for the sockets, and an eventfd by which other threads wake the loop.
///
/// Sockets are registered once, edge-triggered, so that a request needs no system call for its registration.
final class Poller: @unchecked Sendable {
    // Sendable because the descriptors never change. `wake` is the only method that other threads call.

    struct Event {
        /// The number under which the socket was registered; nil if `wake` was called.
        let number: UInt64?
        let isReadable: Bool
        let isWritable: Bool
        /// Whether the peer has closed its side, or the connection is broken.
        let hasHungUp: Bool
    }

    private static let wakeNumber = UInt64.max
    private let epoll: Int32
    private let eventfd: Int32
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 1024)

    init() throws {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EMFILE) }
        eventfd = afar_eventfd()
        guard eventfd >= 0 else {
            let code = errno
            close(epoll)
            throw POSIXError(.init(rawValue: code) ?? .EMFILE)
        }
        // Edge-triggered: each write is one event, and the counter needs no reading.
        let wakes = EPOLLIN.rawValue | EPOLLET.rawValue
        guard afar_epoll_set(epoll, EPOLL_CTL_ADD, eventfd, wakes, Self.wakeNumber) == 0 else {
            let error = POSIXError(.init(rawValue: errno) ?? .ENOMEM)
            close(eventfd)
            close(epoll)
            throw error
        }
    }

    deinit {
        close(eventfd)
        close(epoll)
        events.deallocate()
    }

    /// Makes `wait` return. Can be called from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = write(eventfd, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits for events for this many milliseconds; -1 waits until there are some.
    ///
    /// - Returns: The number of events. They are valid until the next call.
    func wait(milliseconds: Int32) -> Int {
        max(0, Int(epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)))
    }

    func event(_ index: Int) -> Event {
        let event = events[index]
        let number = withUnsafePointer(to: event, afar_epoll_tag)
        let isBroken = event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        return Event(
            number: number == Self.wakeNumber ? nil : number,
            isReadable: isBroken || event.events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0,
            isWritable: isBroken || event.events & EPOLLOUT.rawValue != 0,
            hasHungUp: isBroken || event.events & EPOLLRDHUP.rawValue != 0)
    }

    /// Registers a socket for all changes. Closing the socket ends the registration.
    ///
    /// - Returns: Whether the kernel accepted it.
    func register(_ socket: Int32, number: UInt64) -> Bool {
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        return afar_epoll_set(epoll, EPOLL_CTL_ADD, socket, events, number) == 0
    }

    /// Ends the registration of a socket that stays open.
    func unregister(_ socket: Int32) { _ = afar_epoll_set(epoll, EPOLL_CTL_DEL, socket, 0, 0) }
}
