import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt of a request, as the tasks that stand for it show it.
///
/// It carries nothing itself: it shows what its request does, and passes on what it is told to do. It does not keep its
/// request alive; what is known when the attempt is over stays.
final class TaskAttempt: Sendable {
    /// The state of an attempt at one moment.
    struct Snapshot {
        var state = URLSessionTask.State.completed
        /// The last redirect that was followed.
        var redirect: Redirect?
        var head: ResponseHead?
        var error: (any Error)?
        var sent = ByteProgress(total: nil)
        var received = ByteProgress(total: nil)
    }

    private struct State {
        weak var request: Request?
        /// Set when the attempt is over.
        var ending: Snapshot?
        var description: String?
        var priority = URLSessionTask.defaultPriority
    }

    private static let lastIdentifier = Locked(0)

    let identifier: Int
    let urlRequest: URLRequest
    private let state: Locked<State>

    /// - Parameter ending: What is known of an attempt that is over.
    init(_ urlRequest: URLRequest, of request: Request, ending: Snapshot? = nil) {
        self.urlRequest = urlRequest
        identifier = Self.lastIdentifier.withLock { last in
            last += 1
            return last
        }
        state = Locked(State(request: request, ending: ending))
    }

    /// The attempt is over. Only the first call counts.
    func end(with snapshot: Snapshot) {
        state.withLock { $0.ending = $0.ending ?? snapshot }
    }

    /// The request, while it lives.
    var request: Request? { state.withLock { $0.request } }

    var snapshot: Snapshot {
        let (ending, request) = state.withLock { ($0.ending, $0.request) }
        return ending ?? request?.snapshot(of: self) ?? Snapshot()
    }

    /// The request that was sent last: the original, or where a redirect led.
    var currentRequest: URLRequest {
        snapshot.redirect.flatMap { urlRequest.following($0) } ?? urlRequest
    }

    var description: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    var priority: Float {
        get { state.withLock { $0.priority } }
        set { state.withLock { $0.priority = newValue } }
    }
}
