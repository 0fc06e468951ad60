import AfarCore
import AfarTestServer

/// The steps that have occurred, in order.
final class Steps: Sendable {
    private let state = Locked<[String]>([])

    var taken: [String] { state.withLock { $0 } }

    func take(_ step: String) {
        state.withLock { $0.append(step) }
    }
}

extension TestServer {
    /// Adds a route that never responds.
    ///
    /// - Returns: A signal that is set when the first request has arrived.
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
