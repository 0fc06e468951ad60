import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A monitor that calls the closures of a session's delegate on the session's root queue.
final class DelegateEvents: SelectiveEventMonitor {
    let queue: DispatchQueue
    private let delegate: SessionDelegate

    init(_ delegate: SessionDelegate, on queue: DispatchQueue) {
        self.delegate = delegate
        self.queue = queue
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        guard delegate.sessionDidBecomeInvalidWithError != nil else { return }
        queue.async { [delegate] in delegate.sessionDidBecomeInvalidWithError?(session, error) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard delegate.taskDidComplete != nil else { return }
        queue.async { [delegate] in delegate.taskDidComplete?(session, task, error) }
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        guard delegate.taskIsWaitingForConnectivity != nil else { return }
        queue.async { [delegate] in delegate.taskIsWaitingForConnectivity?(session, task) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard delegate.taskDidSendBodyData != nil else { return }
        queue.async { [delegate] in
            delegate.taskDidSendBodyData?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
        }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        guard delegate.downloadTaskDidResumeAtOffset != nil else { return }
        queue.async { [delegate] in
            delegate.downloadTaskDidResumeAtOffset?(session, downloadTask, fileOffset, expectedTotalBytes)
        }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        guard delegate.downloadTaskDidWriteData != nil else { return }
        queue.async { [delegate] in
            delegate.downloadTaskDidWriteData?(
                session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
        }
    }
}
