import AfarTransport
import Foundation
import Synchronization

/// A socket that a loop watches.
protocol LoopSocket: AnyObject {
    var descriptor: Int32 { get }

    /// Records an event on the socket.
    func update(_ event: Poller.Event)

    /// Performs the operations that are possible. If there is a lot of work, performs only part of it and requests another turn.
    func takeTurn()
}

/// The owner of a loop. All methods are called on the loop's thread.
protocol LoopClient: AnyObject {
    associatedtype Message: Sendable

    func receive(_ message: Message)

    /// Called once in each turn of the loop, after its messages and the turns of its sockets.
    func finishTurn()

    /// When the next turn begins at the latest, in nanoseconds of ``MonotonicClock``.
    var nextDeadline: UInt64 { get }

    /// Whether the thread can end.
    var hasEnded: Bool { get }

    /// Called last, before the thread ends.
    func close()
}

/// A thread with an epoll set. It gives turns to sockets, receives messages from other threads, and observes deadlines.
///
/// The sockets can serve any purpose. Only the loop's thread uses the client's state.
final class EventLoop<Client: LoopClient>: @unchecked Sendable {
    // Sendable because other threads use only the mailbox and the poller's `wake`.

    private struct Mailbox {
        var messages: [Client.Message] = []
        /// Whether the thread has ended.
        var isClosed = false
    }

    private struct Registration {
        var socket: (any LoopSocket)?
        /// Distinguishes successive sockets with the same descriptor.
        var generation: UInt32 = 0
    }

    private let mailbox = Locked(Mailbox())
    private let events: EpollSet
    private let poller: Poller
    private let thread = Atomic<pthread_t>(0)

    /// The registered sockets, by descriptor.
    @exclusivity(unchecked) private var registrations: [Registration] = []
    /// The sockets that wait for a turn, and (in `current`) the sockets whose turn it is.
    @exclusivity(unchecked) private var ready: [any LoopSocket] = []
    @exclusivity(unchecked) private var current: [any LoopSocket] = []
    @exclusivity(unchecked) private var messages: [Client.Message] = []
    /// Whether the thread has posted messages to itself. If so, it must not wait for events.
    @exclusivity(unchecked) private var hasOwnMessages = false
    /// When the current turn began, in nanoseconds of ``MonotonicClock``.
    @exclusivity(unchecked) private(set) var now = MonotonicClock.now
    /// A buffer for reading from sockets.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)

    init() throws {
        events = try EpollSet()
        poller = Poller(set: events)
    }

    deinit { buffer.deallocate() }

    /// Starts the thread, which retains the loop and the client until the client has ended.
    func start(_ client: Client) throws {
        // This is safe because only the thread uses the client from now on.
        nonisolated(unsafe) let client = client
        try DetachedThread.start("afar.http") { [self] in run(client) }
    }

    /// Posts a message. Can be called from any thread. Messages are dropped after the thread has ended.
    func post(_ message: Client.Message) {
        let mustWake = mailbox.withLock { mailbox in
            guard !mailbox.isClosed else { return false }
            mailbox.messages.append(message)
            return mailbox.messages.count == 1
        }
        guard mustWake else { return }
        if thread.load(ordering: .relaxed) == pthread_self() { hasOwnMessages = true } else { events.wake() }
    }

    // MARK: The loop's thread

    /// Watches a socket until it is removed. Returns whether the kernel accepted the socket.
    func add(_ socket: any LoopSocket) -> Bool {
        let index = Int(socket.descriptor)
        while registrations.count <= index { registrations.append(Registration()) }
        registrations[index].generation &+= 1
        registrations[index].socket = socket
        let number = UInt64(registrations[index].generation) << 32 | UInt64(index)
        guard !poller.register(socket.descriptor, number: number) else { return true }
        registrations[index].socket = nil
        return false
    }

    /// Stops watching a socket. Pending events for it are ignored.
    func remove(_ socket: any LoopSocket, isClosing: Bool = true) {
        let index = Int(socket.descriptor)
        guard registrations.indices.contains(index), registrations[index].socket === socket else { return }
        registrations[index].socket = nil
        if !isClosing { poller.unregister(socket.descriptor) }
    }

    /// Reads the clock again, after work that may have taken a long time.
    func updateTime() { now = MonotonicClock.now }

    /// Queues a turn for a socket.
    func queue(_ socket: any LoopSocket) { ready.append(socket) }

    private func run(_ client: Client) {
        thread.store(pthread_self(), ordering: .relaxed)
        while !hasEnded(client) {
            let count = events.wait(milliseconds: timeout(of: client))
            now = MonotonicClock.now
            for index in 0..<count { notify(poller.event(index)) }
            // Sockets come before messages, because a response can free a connection for a new request.
            takeTurns()
            receiveMessages(client)
            takeTurns()
            client.finishTurn()
        }
        client.close()
        registrations = []
    }

    private func notify(_ event: Poller.Event) {
        guard let number = event.number else { return }
        let (index, generation) = (Int(number & 0xFFFF_FFFF), UInt32(number >> 32))
        guard registrations.indices.contains(index), registrations[index].generation == generation,
            let socket = registrations[index].socket
        else { return }
        socket.update(event)
    }

    private func takeTurns() {
        swap(&ready, &current)
        for socket in current { socket.takeTurn() }
        current.removeAll(keepingCapacity: true)
    }

    private func receiveMessages(_ client: Client) {
        hasOwnMessages = false
        mailbox.withLock { swap(&$0.messages, &messages) }
        for message in messages { client.receive(message) }
        messages.removeAll(keepingCapacity: true)
    }

    /// Returns whether the thread can end. If so, closes the mailbox, because a message left in it would create a retain cycle
    /// between the loop and the mailbox.
    private func hasEnded(_ client: Client) -> Bool {
        guard client.hasEnded else { return false }
        return mailbox.withLock { mailbox in
            mailbox.isClosed = mailbox.messages.isEmpty
            return mailbox.isClosed
        }
    }

    private func timeout(of client: Client) -> Int32 {
        guard ready.isEmpty, !hasOwnMessages else { return 0 }
        let deadline = client.nextDeadline
        guard deadline != .max else { return -1 }
        let now = MonotonicClock.now
        return deadline > now ? Int32(clamping: (deadline - now + 999_999) / 1_000_000) : 0
    }
}
