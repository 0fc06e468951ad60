import AfarTransport
import CEpoll
import Synchronization

struct SocketEvent {
    let isReadable: Bool
    let isWritable: Bool
    /// Whether the peer has closed its side, or the connection is broken.
    let hasHungUp: Bool

    init(_ bits: UInt32) {
        let isBroken = bits & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        isReadable = isBroken || bits & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0
        isWritable = isBroken || bits & EPOLLOUT.rawValue != 0
        hasHungUp = isBroken || bits & EPOLLRDHUP.rawValue != 0
    }
}

/// A socket that a loop watches.
protocol LoopSocket: AnyObject {
    var descriptor: Int32 { get }

    func update(_ event: SocketEvent)

    /// Performs the operations that are possible. If there is a lot of work, performs only part of it and requests another turn.
    func takeTurn()
}

/// The owner of a loop. Only one thread at a time uses its members, usually the loop's thread.
protocol LoopClient: AnyObject {
    associatedtype Message: Sendable

    func receive(_ message: Message)

    /// Called on the loop's thread at the end of each turn, after the sockets' turns and the messages.
    func finishTurn()

    /// The latest time at which the next turn begins, in nanoseconds of ``MonotonicClock``.
    var nextDeadline: UInt64 { get }

    /// Whether the client waits only for messages and for events on idle connections.
    var isIdle: Bool { get }

    /// Whether work is left for ``finishTurn()``.
    var mustFinishTurn: Bool { get }

    /// Whether the thread can end.
    var hasEnded: Bool { get }

    /// Called last, before the thread ends.
    func close()
}

/// A thread with an epoll set. It gives turns to sockets, receives messages from other threads, and observes deadlines.
///
/// Each socket is registered once, for edge-triggered events, so requests need no system calls for registration. The sockets can
/// serve any purpose. One thread at a time uses the client's state: the loop's thread, or a thread that performs work while the loop is
/// idle.
final class EventLoop<Client: LoopClient>: @unchecked Sendable {
    // Sendable because other threads use only the inbox, or hold the lock.

    private struct Registration {
        var socket: (any LoopSocket)?
        /// Distinguishes successive sockets with the same descriptor.
        var generation: UInt32 = 0
    }

    private let inbox: LoopInbox<Client.Message>
    /// Held by the thread that uses the client's state.
    private let turn = InlineLocked(())
    /// Whether the loop's thread waits and the client is idle.
    private let isIdle = Atomic(false)
    /// Whether a caller's thread runs the current turn.
    @exclusivity(unchecked) private(set) var isCallersTurn = false
    /// When the loop's thread stops waiting.
    @exclusivity(unchecked) private var waitDeadline: UInt64 = 0

    /// The registered sockets, by descriptor.
    @exclusivity(unchecked) private var registrations: [Registration] = []
    /// The sockets that wait for a turn, and (in `current`) the sockets whose turn it is.
    @exclusivity(unchecked) private var ready: [any LoopSocket] = []
    @exclusivity(unchecked) private var current: [any LoopSocket] = []
    /// When the current turn began, in nanoseconds of ``MonotonicClock``.
    @exclusivity(unchecked) private(set) var now = MonotonicClock.now
    /// A buffer for reading from sockets.
    let buffer: UnsafeMutableRawBufferPointer

    init() throws {
        inbox = try LoopInbox()
        buffer = .allocate(byteCount: 256 * 1024, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Starts the thread, which retains the loop and the client until the client has ended.
    func start(_ client: Client) throws {
        // This is safe because only the holder of the lock uses the client from now on.
        nonisolated(unsafe) let client = client
        try DetachedThread.start("afar.http") { [self] in run(client) }
    }

    /// Posts a message. Can be called from any thread. Messages are dropped after the thread has ended.
    func post(_ message: Client.Message) { inbox.post(message) }

    /// If the loop is idle, performs work and the resulting turns of sockets on the calling thread. This avoids waking the loop's
    /// thread, which handles the next event.
    ///
    /// The work and the turns must not call user code, because the caller may hold locks. If earlier messages are pending, this
    /// method does nothing, because the loop must receive them first.
    ///
    /// - Returns: Whether the work was performed.
    func performIfIdle(_ client: Client, _ work: (Client) -> Void) -> Bool {
        guard isIdle.load(ordering: .relaxed) else { return false }
        let mustWake = turn.withLockIfAvailable { _ -> Bool? in
            guard isIdle.load(ordering: .relaxed), inbox.isEmpty else { return nil }
            isIdle.store(false, ordering: .relaxed)
            now = MonotonicClock.now
            isCallersTurn = true
            defer { isCallersTurn = false }
            work(client)
            takeTurns()
            return !ready.isEmpty || client.mustFinishTurn || client.nextDeadline < waitDeadline
        }
        guard let mustWake, let mustWake else { return false }
        if mustWake { inbox.events.wake() }
        return true
    }

    // MARK: For the thread that holds the lock

    /// Watches a socket until it is removed. Returns whether the kernel accepted the socket.
    func add(_ socket: any LoopSocket) -> Bool {
        let index = Int(socket.descriptor)
        while registrations.count <= index { registrations.append(Registration()) }
        registrations[index].generation &+= 1
        registrations[index].socket = socket
        let tag = UInt64(registrations[index].generation) << 32 | UInt64(index)
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        guard !inbox.events.set(socket.descriptor, EPOLL_CTL_ADD, events, tag: tag) else { return true }
        registrations[index].socket = nil
        return false
    }

    /// Stops watching a socket. Pending events for it are ignored.
    func remove(_ socket: any LoopSocket, isClosing: Bool = true) {
        let index = Int(socket.descriptor)
        guard registrations.indices.contains(index), registrations[index].socket === socket else { return }
        registrations[index].socket = nil
        // Closing a socket ends its registration.
        if !isClosing { _ = inbox.events.set(socket.descriptor, EPOLL_CTL_DEL) }
    }

    /// Reads the clock again, after work that may have taken a long time.
    func updateTime() { now = MonotonicClock.now }

    func queue(_ socket: any LoopSocket) { ready.append(socket) }

    private func run(_ client: Client) {
        inbox.begin()
        var count = 0
        while let deadline = turn.withLock({ _ in run(client, afterEvents: count) }) {
            count = inbox.wait(until: deadline)
        }
    }

    /// Runs one turn: processes events and messages.
    ///
    /// - Returns: The latest time at which the next turn begins, or nil if the client has ended.
    private func run(_ client: Client, afterEvents count: Int) -> UInt64? {
        isIdle.store(false, ordering: .relaxed)
        now = MonotonicClock.now
        for index in 0..<count { notify(inbox.events.event(index)) }
        // Sockets come before messages, because a response can free a connection for a new request.
        takeTurns()
        inbox.receive { client.receive($0) }
        takeTurns()
        client.finishTurn()
        guard !client.hasEnded || !inbox.close() else {
            client.close()
            registrations = []
            return nil
        }
        waitDeadline = ready.isEmpty ? client.nextDeadline : 0
        isIdle.store(ready.isEmpty && client.isIdle, ordering: .relaxed)
        return waitDeadline
    }

    private func notify(_ event: (tag: UInt64?, events: UInt32)) {
        guard let tag = event.tag else { return }
        let (index, generation) = (Int(tag & 0xFFFF_FFFF), UInt32(tag >> 32))
        guard registrations.indices.contains(index), registrations[index].generation == generation else { return }
        registrations[index].socket?.update(SocketEvent(event.events))
    }

    private func takeTurns() {
        swap(&ready, &current)
        for socket in current { socket.takeTurn() }
        current.removeAll(keepingCapacity: true)
    }
}
