import AfarTransport
import Foundation
import Synchronization

/// A socket that a loop watches.
protocol LoopSocket: AnyObject {
    var descriptor: Int32 { get }

    /// Something became possible on the socket.
    func update(_ event: Poller.Event)

    /// The socket's turn to do what is possible. It does no more than a part of the work if there is a lot, and asks for another turn.
    func takeTurn()
}

/// What a loop runs. All methods are called on the loop's thread.
protocol LoopClient: AnyObject {
    associatedtype Message: Sendable

    func receive(_ message: Message)

    /// Called once in each turn of the loop, when its messages were received and its sockets had their turn.
    func finishTurn()

    /// When the next turn must begin, in nanoseconds of ``MonotonicClock``, although nothing has happened.
    var nextDeadline: UInt64 { get }

    /// Whether everything has ended, so that the thread can end.
    var hasEnded: Bool { get }

    /// The last call.
    func close()
}

/// A thread with an epoll set: sockets get turns, other threads post messages, and deadlines pass.
///
/// The loop has no knowledge of what the sockets are for. Its client's state belongs to the loop's thread.
final class EventLoop<Client: LoopClient>: @unchecked Sendable {
    // Sendable because other threads use only the mailbox and the poller's `wake`. The rest belongs to the loop's thread.

    private struct Mailbox {
        var messages: [Client.Message] = []
        /// Whether the thread has ended.
        var isClosed = false
    }

    private struct Registration {
        var socket: (any LoopSocket)?
        /// Distinguishes sockets that have the same descriptor one after another.
        var generation: UInt32 = 0
    }

    private let mailbox = Locked(Mailbox())
    private let events: EpollSet
    private let poller: Poller
    private let thread = Atomic<pthread_t>(0)

    /// The registered sockets, by descriptor.
    @exclusivity(unchecked) private var registrations: [Registration] = []
    /// The sockets that have something to do, and those whose turn it is.
    @exclusivity(unchecked) private var ready: [any LoopSocket] = []
    @exclusivity(unchecked) private var current: [any LoopSocket] = []
    @exclusivity(unchecked) private var messages: [Client.Message] = []
    /// Whether the thread has posted messages to itself, so that it must not wait.
    @exclusivity(unchecked) private var hasOwnMessages = false
    /// When the current turn began, in nanoseconds of ``MonotonicClock``.
    @exclusivity(unchecked) private(set) var now = MonotonicClock.now
    /// A buffer for the bytes that a socket reads.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)

    init() throws {
        events = try EpollSet()
        poller = Poller(set: events)
    }

    deinit { buffer.deallocate() }

    /// Starts the thread, which retains the loop and the client and runs until the client has ended.
    func start(_ client: Client) throws {
        // Safe because from now on the client is used on the thread only, except for messages.
        nonisolated(unsafe) let client = client
        try DetachedThread.start("afar.http") { [self] in run(client) }
    }

    /// Posts a message. Can be called from any thread. Messages that arrive after the end of the thread are dropped.
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

    /// Watches a socket until it is removed. Returns whether the kernel accepted it.
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

    /// Stops watching a socket. Events that have already arrived for it are ignored.
    func remove(_ socket: any LoopSocket, isClosing: Bool = true) {
        let index = Int(socket.descriptor)
        guard registrations.indices.contains(index), registrations[index].socket === socket else { return }
        registrations[index].socket = nil
        if !isClosing { poller.unregister(socket.descriptor) }
    }

    /// Reads the clock again, after something that may have taken long.
    func updateTime() { now = MonotonicClock.now }

    /// Gives a socket a turn after the others.
    func queue(_ socket: any LoopSocket) { ready.append(socket) }

    private func run(_ client: Client) {
        thread.store(pthread_self(), ordering: .relaxed)
        while !hasEnded(client) {
            let count = events.wait(milliseconds: timeout(of: client))
            now = MonotonicClock.now
            for index in 0..<count { notify(poller.event(index)) }
            // Before the messages: a response that has arrived makes a connection available to the next request.
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

    /// Whether the thread ends. From then on the mailbox is closed, or its messages would keep the loop and themselves alive.
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
