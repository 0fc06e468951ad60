public import AfarCore
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Keeps what a session's requests send and receive, to be written as an HTTP archive and looked at in a browser's network
/// panel.
///
/// ```swift
/// let monitor = HARMonitor()
/// let session = Session(eventMonitors: [monitor])
/// …
/// try monitor.archive.write(to: file)
/// ```
///
/// Each attempt of a request is an entry, and each hop of a redirect before it, with their timings. Bodies are kept of
/// requests whose body is in memory and of responses that are collected there, not those of downloads and streams, nor always
/// those of attempts that are retried. Who wants all of them, or means to replay the archive, takes ``RecordingTransport``. All is
/// in memory until the monitor is let go of.
public final class HARMonitor: EventMonitor {
    /// Where the monitor is notified.
    public let queue = DispatchQueue(label: "afar.har")
    private let redaction: HAR.Redaction
    private let recorder = ArchiveRecorder(redaction: .none)
    /// Of the attempts that are being completed, by request.
    private let gathered = Guarded<[UUID: TaskMetrics]>([:])

    /// Makes a monitor.
    ///
    /// - Parameter redaction: What is hidden in the archive, beside the ``SessionConfiguration/sensitiveHeaders`` of the
    ///   sessions. The default is ``HAR/Redaction/secrets``.
    public init(redaction: HAR.Redaction = .secrets) {
        self.redaction = redaction
    }

    /// What was kept of the attempts that are over. Not to be called on ``queue``.
    public var archive: HAR { queue.sync { recorder.archive } }

    /// An attempt was measured.
    public func request(_ request: AfarCore.Request, didGatherMetrics metrics: TaskMetrics) {
        gathered.withLock { $0[request.id] = metrics }
    }

    /// A request is over.
    public func requestDidFinish(_ request: AfarCore.Request) { gathered.withLock { $0[request.id] = nil } }

    /// An attempt is over.
    public func request(_ request: AfarCore.Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        // The request itself may be at its next attempt by now, and have no body any more.
        guard let metrics = gathered.withLock({ $0.removeValue(forKey: request.id) }) else { return }
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
