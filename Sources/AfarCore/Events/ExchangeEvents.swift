import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Forwards an exchange's events from the transport to its request's progress and to the event monitors.
final class ExchangeEvents: ExchangeObserver {
    /// The events already reported to the monitors.
    private struct Reported {
        var bytesSent: Int64 = 0
        var bytesReceived: Int64 = 0
        var answeredChallengeCount = 0
    }

    private let request: Request
    private let events: CompositeEventMonitor?
    private let reported = InlineLocked(Reported())

    private init(of request: Request, events: CompositeEventMonitor?) {
        self.request = request
        self.events = events
    }

    /// Returns nil if no one observes the events.
    static func make(of request: Request) -> ExchangeEvents? {
        let events = request.events
        return events != nil || request.showsProgress ? ExchangeEvents(of: request, events: events) : nil
    }

    func exchangeWillAnswerChallenge(in head: ResponseHead) {
        reportChallenge(in: head)
        reported.withLock { $0.answeredChallengeCount += 1 }
    }

    private func reportChallenge(in head: ResponseHead) {
        guard let events, let task = request.lastTask,
            let challenge = AuthenticationChallenge.challenges(in: head.values(for: .wwwAuthenticate)).first,
            let known = URLAuthenticationChallenge(
                challenge, in: head, proposing: request.credential,
                failures: reported.withLock { $0.answeredChallengeCount })
        else { return }
        events.urlSession(.shared, task: task, didReceive: known)
    }

    func exchangeIsWaitingForConnectivity() {
        guard let events, let task = request.lastTask else { return }
        events.urlSession(.shared, taskIsWaitingForConnectivity: task)
    }

    func exchangeDidReceiveHead(_ head: ResponseHead) {
        if head.status == 401 { reportChallenge(in: head) }
        guard let events, let task = request.lastTask as? URLSessionDataTask else { return }
        events.urlSession(.shared, dataTask: task, didReceive: head)
    }

    func exchangeWillFollow(_ redirect: Redirect) {
        request.didFollow(redirect)
        guard let events, let task = request.lastTask, let response = redirect.response.httpURLResponse,
            let newRequest = task.originalRequest?.following(redirect)
        else { return }
        events.urlSession(.shared, task: task, willPerformHTTPRedirection: response, newRequest: newRequest)
    }

    func exchangeDidSend(bytes: Int64, expected: Int64?) {
        request.didSend(bytes: bytes, expected: expected)
        guard let events, let task = request.lastTask, let newBytes = newBytes(\.bytesSent, bytes) else { return }
        events.urlSession(
            .shared, task: task, didSendBodyData: newBytes, totalBytesSent: bytes,
            totalBytesExpectedToSend: expected ?? -1)
    }

    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        request.didReceive(bytes: bytes, expected: expected)
        guard let events, let task = request.lastTask as? URLSessionDownloadTask,
            let newBytes = newBytes(\.bytesReceived, bytes)
        else { return }
        let before = request.bytesBefore
        events.urlSession(
            .shared, downloadTask: task, didWriteData: newBytes, totalBytesWritten: before + bytes,
            totalBytesExpectedToWrite: expected.map { before + $0 } ?? -1)
    }

    /// Returns the number of new bytes, if there are any. Bytes that are sent again, for example after a redirect, count from the
    /// first byte.
    private func newBytes(_ direction: WritableKeyPath<Reported, Int64>, _ bytes: Int64) -> Int64? {
        let newBytes = reported.withLock { reported in
            let last = reported[keyPath: direction]
            reported[keyPath: direction] = bytes
            return bytes < last ? bytes : bytes - last
        }
        return newBytes > 0 ? newBytes : nil
    }
}
