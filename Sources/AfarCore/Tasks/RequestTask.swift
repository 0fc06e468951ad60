import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt of a request in the shape of Foundation's task, for code that wants to have one.
///
/// It carries nothing itself: it shows what its request does, and passes on what it is told to do. It does not keep its
/// request alive; what is known when the attempt is over stays.
final class RequestTask: URLSessionTask, @unchecked Sendable {
    // Sendable because everything that changes is behind a lock.

    /// What can be said of an attempt.
    struct Standing {
        var state = URLSessionTask.State.completed
        /// The last redirect that was followed.
        var redirect: Redirect?
        var head: ResponseHead?
        var error: (any Error)?
        var sent = TransferFigures(total: nil)
        var received = TransferFigures(total: nil)
    }

    private struct State {
        weak var request: Request?
        var urlRequest: URLRequest?
        var identifier = 0
        /// Set when the attempt is over.
        var ending: Standing?
        var description: String?
        var priority = URLSessionTask.defaultPriority
    }

    private static let lastIdentifier = Locked(0)
    private let attempt = Locked(State())

    /// Makes the task of an attempt.
    ///
    /// - Parameter ending: What is known of an attempt that is over.
    static func make(for urlRequest: URLRequest, of request: Request, ending: Standing? = nil) -> RequestTask {
        let task = instance(of: RequestTask.self)
        let identifier = lastIdentifier.withLock { last in
            last += 1
            return last
        }
        task.attempt.withLock { state in
            state.request = request
            state.urlRequest = urlRequest
            state.identifier = identifier
            state.ending = ending
        }
        return task
    }

    /// The attempt is over. Only the first call counts.
    func end(with standing: Standing) {
        attempt.withLock { $0.ending = $0.ending ?? standing }
    }

    /// Whose attempt it is, while that is around.
    var request: Request? { attempt.withLock { $0.request } }

    private var standing: Standing {
        let (ending, request) = attempt.withLock { ($0.ending, $0.request) }
        return ending ?? request?.standing(of: self) ?? Standing()
    }

    // MARK: What Foundation's task has

    override var taskIdentifier: Int { attempt.withLock { $0.identifier } }
    override var originalRequest: URLRequest? { attempt.withLock { $0.urlRequest } }
    override var currentRequest: URLRequest? {
        let original = originalRequest
        return standing.redirect.flatMap { original?.following($0) } ?? original
    }
    override var response: URLResponse? { standing.head?.httpURLResponse }
    override var state: URLSessionTask.State { standing.state }
    override var error: (any Error)? { standing.error }
    override var countOfBytesSent: Int64 { standing.sent.completed }
    override var countOfBytesExpectedToSend: Int64 { standing.sent.total }
    override var countOfBytesReceived: Int64 { standing.received.completed }
    override var countOfBytesExpectedToReceive: Int64 { standing.received.total }
    override var progress: Progress { standing.received.progress }

    override var taskDescription: String? {
        get { attempt.withLock { $0.description } }
        set { attempt.withLock { $0.description = newValue } }
    }

    override var priority: Float {
        get { attempt.withLock { $0.priority } }
        set { attempt.withLock { $0.priority = newValue } }
    }

    override func cancel() { request?.cancel() }
    override func suspend() { request?.suspend() }
    override func resume() { request?.resume() }
}

/// Made by an initializer without parameters.
private protocol PlainlyMade {
    init()
}

// Foundation deprecates this initializer on Apple's platforms, as a warning to those who would make tasks that do nothing.
// Reached through a protocol, it is the same on all platforms.
extension RequestTask: PlainlyMade {}

private func instance<Made: PlainlyMade>(of type: Made.Type) -> Made { type.init() }
