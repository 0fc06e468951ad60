import AfarCore
import AfarTestServer

/// What happened, in order.
final class Steps: Sendable {
    private let state = Locked<[String]>([])

    var taken: [String] { state.withLock { $0 } }

    func take(_ step: String) {
        state.withLock { $0.append(step) }
    }
}

extension TestServer {
    /// A route whose requests are never answered.
    ///
    /// - Returns: Set when the first request is there.
    func neverAnswers(_ path: String) -> Signal {
        let entered = Signal()
        route(path) { _ in
            entered.set()
            try await Task.sleep(for: .seconds(600))
            return .text("late")
        }
        return entered
    }
}
