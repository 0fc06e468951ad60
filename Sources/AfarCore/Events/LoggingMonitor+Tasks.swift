#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The events of tasks.
extension LoggingMonitor {
    /// Logs the response's head at ``Level/debug``.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let request = dataTask.afarRequest
        note(
            request, "answered \(response.statusCode)",
            lines(response.headers.sorted(), of: request, after: "<"))
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        note(task.afarRequest, "redirected by \(response.statusCode) to \(request.line)")
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        note(task.afarRequest, "asked for credentials (\(challenge.protectionSpace.authenticationMethod))")
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        note(task.afarRequest, "waits for a network")
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note(downloadTask.afarRequest, "goes on after \(Quantity.bytes(fileOffset))")
    }
}
