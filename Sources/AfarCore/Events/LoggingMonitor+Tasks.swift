#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// What is noted of tasks.
extension LoggingMonitor {
    /// Notes the head.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let request = request(of: dataTask)
        note(
            request, "answered \(response.statusCode)",
            lines(response.headers.sorted(), of: request, after: "<"))
    }

    /// Notes it.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        note(self.request(of: task), "redirected by \(response.statusCode) to \(request.line)")
    }

    /// Notes it.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        note(request(of: task), "asked for credentials (\(challenge.protectionSpace.authenticationMethod))")
    }

    /// Notes it.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        note(request(of: task), "waits for a network")
    }

    /// Notes it.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note(request(of: downloadTask), "goes on after \(Quantity.bytes(fileOffset))")
    }

    private func request(of task: URLSessionTask) -> Request? { (task as? any RequestTask)?.attempt?.request }
}
