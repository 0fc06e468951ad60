import AfarTransport

extension CurlLoop {
    /// A message from another thread.
    enum Message {
        case submit(Transfer)
        case cancel(Transfer)
        case suspensionChanged(Transfer)
        case demand(Transfer)
        case bodyReady(Transfer)
        case decided(Transfer, HeadDecision)
        case closeIdleConnections
        case countConnections(@Sendable ([ConnectionStatistics.Host]) -> Void)
        case run(InlineJob)
        case shutDown
    }

    struct Mailbox {
        var messages: [Message] = []
        /// Whether the thread has ended.
        var isClosed = false
    }
}

extension CurlLoop: TransportLoop {
    func closeIdleConnections() { post(.closeIdleConnections) }
    func countConnections(_ answer: @escaping @Sendable ([ConnectionStatistics.Host]) -> Void) {
        post(.countConnections(answer))
    }
    func run(_ job: InlineJob) { post(.run(job)) }
    func shutDown() { post(.shutDown) }
}
