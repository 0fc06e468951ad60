import AfarTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Hands the session's events to the exchanges that they are about. The session calls it on one serial queue.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate {
    private let exchanges = Locked<[Int: RunningExchange]>([:])

    /// The number of tasks that the session has not finished with.
    var count: Int { exchanges.withLock { $0.count } }

    func add(_ exchange: RunningExchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    subscript(task: URLSessionTask) -> RunningExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self[dataTask]?.didReceive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self[dataTask]?.didReceive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self[task]?.didSend(totalBytesSent)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Answering for a task that was cancelled meanwhile traps on Linux, so then nobody answers.
        guard let exchange = self[task], exchange.mayAnswerRedirect() else { return }
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard Platform.stallsAtChallenge else { return completionHandler(.performDefaultHandling, nil) }
        // The whole 401 has arrived by now, so the exchange succeeds, and the task is abandoned.
        self[task]?.didComplete(with: nil)
        BoundedQueue.elsewhere { completionHandler(.cancelAuthenticationChallenge, nil) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        // A redirect without a usable Location completes on Linux without having been announced.
        if error == nil, let response = task.response { exchange.didReceive(response) }
        exchange.didComplete(with: error)
    }
}
