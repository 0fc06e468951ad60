public import AfarCore
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An event monitor that records a session's requests as an HTTP archive, which browsers' network panels can display.
///
/// ```swift
/// let monitor = HARMonitor()
/// let session = Session(eventMonitors: [monitor])
/// …
/// try monitor.archive.write(to: file)
/// ```
///
/// Each attempt of a request and each redirect is an entry with timings. The archive contains request bodies that are in memory
/// and response bodies that are collected in memory. It doesn't contain the bodies of downloads and streams. It can lack the
/// bodies of retried attempts. To record all bodies or to replay an archive, use ``RecordingTransport`` instead. The monitor
/// keeps the whole archive in memory.
public final class HARMonitor: EventMonitor {
    /// The queue on which the monitor receives events.
    public let queue = DispatchQueue(label: "afar.har")
    private let redaction: HAR.Redaction
    private let recorder = ArchiveRecorder(redaction: .none)
    /// The metrics of attempts that are being completed, by request.
    private let gathered = Locked<[UUID: TaskMetrics]>([:])

    /// Creates a monitor.
    ///
    /// - Parameter redaction: The secrets to remove from the archive, in addition to each session's
    ///   ``SessionConfiguration/sensitiveHeaders``. The default is ``HAR/Redaction/secrets``.
    public init(redaction: HAR.Redaction = .secrets) {
        self.redaction = redaction
    }

    /// The completed attempts. Don't access this property from ``queue``.
    public var archive: HAR { queue.sync { recorder.archive } }

    /// Stores the metrics of an attempt.
    public func request(_ request: AfarCore.Request, didGatherMetrics metrics: TaskMetrics) {
        gathered.withLock { $0[request.id] = metrics }
    }

    /// Removes the metrics of a finished request.
    public func requestDidFinish(_ request: AfarCore.Request) { gathered.withLock { $0[request.id] = nil } }

    /// Records a completed attempt.
    public func request(_ request: AfarCore.Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        guard let metrics = gathered.withLock({ $0.removeValue(forKey: request.id) }) else { return }
        // The next attempt might have begun and released the body.
        let isCurrent = request.allMetrics.last?.taskInterval.start == metrics.taskInterval.start
        let transactions = metrics.transactionMetrics
        let redaction = redaction.hidesNothing ? redaction : redaction.adding(request.sensitiveHeaders)
        for (number, metrics) in transactions.enumerated() {
            guard let requestHead = metrics.requestHead else { continue }
            var entry = HAR.Entry(
                started: metrics.fetchStartDate ?? Date(), request: HAR.Request(requestHead, request))
            let isLast = number == transactions.count - 1
            if number == 0 { entry.request.body = request.bodyInMemory(type: requestHead.headerFields[.contentType]) }
            if let head = metrics.responseHead {
                let body = isLast && isCurrent ? (request as? DataRequest)?.data : nil
                entry.response.take(head, body: body)
            } else {
                entry.failure = (error?.transportError?.code ?? .unknown).description
            }
            entry.take(metrics)
            _ = recorder.add(redaction.redacted(entry))
        }
    }
}

extension HAR.Request {
    fileprivate init(_ head: HTTPRequest, _ request: AfarCore.Request) {
        var exchange = Exchange(request: head)
        exchange.options.defaultFields = DefaultFields(request.defaultFields)
        self.init(exchange)
    }
}

extension AfarCore.Request {
    fileprivate func bodyInMemory(type: String?) -> HAR.Content? {
        var body = request?.httpBody
        if case .data(let data)? = (self as? UploadRequest)?.uploadable { body = data }
        return body.map { HAR.Content(mimeType: type ?? "", data: $0) }
    }
}
