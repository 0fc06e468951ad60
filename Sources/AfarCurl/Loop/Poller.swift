import AfarTransport
import CEpoll
import CLibcurl
import Foundation

/// Watches the sockets of a loop.
struct Poller: Sendable {
    enum Event {
        case woken
        /// A socket is ready. `pool` is the number of its pool, and the bits are libcurl's `CURL_CSELECT_…`.
        case socket(Int32, pool: UInt32, bits: Int32)
    }

    let set: EpollSet

    /// Returns one of the events from the last wait.
    func event(_ index: Int) -> Event {
        let (tag, events) = set.event(index)
        guard let tag else { return .woken }
        let socket = Int32(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        return .socket(socket, pool: UInt32(tag >> 32), bits: Self.selectBits(events))
    }

    func apply(_ change: SocketInterests.Change, pool: UInt32) {
        switch change {
        case .add(let socket, let events): set(socket, events, pool, EPOLL_CTL_ADD, ifRefused: EPOLL_CTL_MOD)
        case .modify(let socket, let events): set(socket, events, pool, EPOLL_CTL_MOD, ifRefused: EPOLL_CTL_ADD)
        case .remove(let socket): _ = set.set(socket, EPOLL_CTL_DEL)
        }
    }

    /// Registers or modifies a socket. A socket can be closed and opened again under the same number, so the kernel's registration
    /// can differ from the recorded one.
    private func set(_ socket: Int32, _ events: UInt32, _ pool: UInt32, _ operation: Int32, ifRefused other: Int32) {
        let tag = UInt64(pool) << 32 | UInt64(UInt32(bitPattern: socket))
        if !set.set(socket, operation, events, tag: tag), errno == EEXIST || errno == ENOENT {
            _ = set.set(socket, other, events, tag: tag)
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
