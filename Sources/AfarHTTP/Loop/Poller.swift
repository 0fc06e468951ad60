import AfarTransport
import CEpoll

/// Watches the sockets of a loop. Each socket is registered once, for edge-triggered events, so requests need no system calls for
/// registration.
struct Poller: Sendable {
    struct Event {
        /// The number under which the socket was registered; nil if the loop was woken.
        let number: UInt64?
        let isReadable: Bool
        let isWritable: Bool
        /// Whether the peer has closed its side, or the connection is broken.
        let hasHungUp: Bool
    }

    let set: EpollSet

    func event(_ index: Int) -> Event {
        let (number, events) = set.event(index)
        let isBroken = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        return Event(
            number: number,
            isReadable: isBroken || events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0,
            isWritable: isBroken || events & EPOLLOUT.rawValue != 0,
            hasHungUp: isBroken || events & EPOLLRDHUP.rawValue != 0)
    }

    /// Registers a socket for all changes. Closing the socket ends the registration.
    ///
    /// - Returns: Whether the kernel accepted the socket.
    func register(_ socket: Int32, number: UInt64) -> Bool {
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        return set.set(socket, EPOLL_CTL_ADD, events, tag: number)
    }

    /// Ends the registration of a socket that stays open.
    func unregister(_ socket: Int32) { _ = set.set(socket, EPOLL_CTL_DEL) }
}
