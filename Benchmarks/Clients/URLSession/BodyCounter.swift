import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Counts the bytes of a body as they arrive. URLSession delivers partial bodies only to a delegate.
final class BodyCounter: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Sendable because the session calls its delegate on a serial queue.

    private var count = 0
    private let completion: CheckedContinuation<Int, any Error>

    private init(completion: CheckedContinuation<Int, any Error>) {
        self.completion = completion
    }

    static func count(_ url: URL, configuration: URLSessionConfiguration) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let counter = BodyCounter(completion: continuation)
            let session = URLSession(configuration: configuration, delegate: counter, delegateQueue: nil)
            session.dataTask(with: url).resume()
            session.finishTasksAndInvalidate()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count += data.count
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { completion.resume(throwing: error) } else { completion.resume(returning: count) }
    }
}
