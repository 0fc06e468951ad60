public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The events of tasks.
extension CompositeEventMonitor {
    // MARK: Sessions

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        perform { $0.urlSession(session, didBecomeInvalidWithError: error) }
    }

    // MARK: Tasks

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        perform { $0.urlSession(session, task: task, didReceive: challenge) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        perform {
            $0.urlSession(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        perform { $0.urlSession(session, taskNeedsNewBodyStream: task) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        perform { $0.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TaskMetrics) {
        perform { $0.urlSession(session, task: task, didFinishCollecting: metrics) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        perform { $0.urlSession(session, task: task, didCompleteWithError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        perform { $0.urlSession(session, taskIsWaitingForConnectivity: task) }
    }

    // MARK: Data tasks

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        perform { $0.urlSession(session, dataTask: dataTask, didReceive: response) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        perform { $0.urlSession(session, dataTask: dataTask, didReceive: data) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        perform { $0.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse) }
    }

    // MARK: Download tasks

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        perform {
            $0.urlSession(
                session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
                expectedTotalBytes: expectedTotalBytes)
        }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        perform {
            $0.urlSession(
                session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
                totalBytesExpectedToWrite: totalBytesExpectedToWrite)
        }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        perform { $0.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location) }
    }
}
