import Afar

/// A monitor that was written for Alamofire. Its methods are never called.
final class OldMonitor: EventMonitor {
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        print(metrics.taskInterval)
    }

    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
        print(metrics.redirectCount)
    }
}
