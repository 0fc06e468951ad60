import AfarTransport

/// Notes what happens in a test, in order.
package final class Log: Sendable {
    private let state = Locked<[String]>([])

    package init() {}

    package var entries: [String] { state.withLock { $0 } }

    package func append(_ entry: String) {
        state.withLock { $0.append(entry) }
    }
}
