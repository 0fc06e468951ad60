#if os(Linux)
    public import Foundation
    public import Synchronization

    /// The messages for a loop's thread, and the epoll set on which the thread waits for messages and other events.
    ///
    /// The members are inlinable, so that the modules of the transports specialize them.
    @usableFromInline package final class LoopInbox<Message: Sendable>: @unchecked Sendable {
        // Sendable because other threads call only `post`.

        @usableFromInline struct Mailbox {
            @usableFromInline var messages: [Message] = []
            /// Whether the thread has ended.
            @usableFromInline var isClosed = false

            @inlinable init() {}
        }

        package let events: EpollSet
        @usableFromInline let mailbox = Locked(Mailbox())
        @usableFromInline let thread = Atomic<pthread_t>(0)
        /// The messages that are being received.
        @exclusivity(unchecked) @usableFromInline var current: [Message] = []
        /// Whether the thread has posted messages to itself. If so, it must not wait for events.
        @exclusivity(unchecked) @usableFromInline var hasOwnMessages = false

        package init() throws { events = try EpollSet() }

        /// Records the current thread as the one that receives messages.
        package func begin() { thread.store(pthread_self(), ordering: .relaxed) }

        /// Posts a message. Can be called from any thread. Messages are dropped after the inbox has been closed.
        @inlinable package func post(_ message: Message) {
            let mustWake = mailbox.withLock { mailbox in
                guard !mailbox.isClosed else { return false }
                mailbox.messages.append(message)
                return mailbox.messages.count == 1
            }
            guard mustWake else { return }
            if thread.load(ordering: .relaxed) == pthread_self() { hasOwnMessages = true } else { wake() }
        }

        /// Whether all messages have been received.
        @inlinable package var isEmpty: Bool { mailbox.withLock { $0.messages.isEmpty } }

        @usableFromInline func wake() { events.wake() }

        /// Waits for messages and events.
        ///
        /// - Parameter deadline: When to stop waiting, in nanoseconds of ``MonotonicClock``. 0 means not to wait, and `UInt64.max`
        ///   means no limit.
        /// - Returns: The number of events in ``events``. They are valid until the next call.
        package func wait(until deadline: UInt64) -> Int { events.wait(until: hasOwnMessages ? 0 : deadline) }

        /// Calls a closure with each message.
        @inlinable package func receive(_ body: (Message) -> Void) {
            hasOwnMessages = false
            mailbox.withLock { swap(&$0.messages, &current) }
            for message in current { body(message) }
            current.removeAll(keepingCapacity: true)
        }

        /// Closes the inbox before the thread ends. Returns false without closing the inbox if messages are left, because they
        /// would create a retain cycle between the loop and the inbox.
        package func close() -> Bool {
            mailbox.withLock { mailbox in
                mailbox.isClosed = mailbox.messages.isEmpty
                return mailbox.isClosed
            }
        }
    }
#endif
