public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif
#if canImport(Security)
    public import Security
#endif

/// The metrics of one attempt of a request, including its redirects.
public struct TaskMetrics: Sendable, Hashable {
    /// The metrics of each request that was sent, in order.
    public var transactionMetrics: [TransactionMetrics]
    /// The time from the attempt's start to its end.
    public var taskInterval: DateInterval
    /// The number of redirects that were followed.
    public var redirectCount: Int

    /// Creates metrics.
    public init(transactionMetrics: [TransactionMetrics], taskInterval: DateInterval, redirectCount: Int = 0) {
        self.transactionMetrics = transactionMetrics
        self.taskInterval = taskInterval
        self.redirectCount = redirectCount
    }
}

extension TaskMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number of requests sent, the total time, and the metrics of each request, on one line.
    public var description: String {
        ([summary] + transactionMetrics.map(\.description)).joined(separator: " | ")
    }

    /// The information in ``description`` as tables, one for each request sent.
    public var debugDescription: String {
        let count = transactionMetrics.count
        let tables = transactionMetrics.enumerated().map { index, transaction in
            (count > 1 ? "Request \(index + 1) of \(count)\n" : "") + transaction.debugDescription
        }
        return ([summary] + tables).joined(separator: "\n")
    }

    /// The number of requests sent and the total time.
    var summary: String {
        let parts = [
            Quantity.count(transactionMetrics.count, of: "request"),
            redirectCount > 0 ? Quantity.count(redirectCount, of: "redirect") : nil,
        ]
        return parts.compactMap { $0 }.joined(separator: ", ") + " in " + Quantity.milliseconds(taskInterval.duration)
    }
}

struct AttemptReport {
    var start: Date
    var end: Date
    var report: TransportReport
    /// The request, or nil if it wasn't sent.
    var request: URLRequest?
    /// The final response, or nil if none arrived.
    var response: ResponseHead?

    var trailers: HTTPHeaders { HTTPHeaders(report.trailers) }

    var metrics: TaskMetrics {
        // Use `max`, because the clock might have been set back.
        TaskMetrics(
            transactionMetrics: transactions,
            taskInterval: DateInterval(start: start, duration: max(0, end.timeIntervalSince(start))),
            redirectCount: report.redirects.count)
    }

    private var transactions: [TransactionMetrics] {
        var transactions = report.transactions
        guard let last = transactions.indices.last, transactions[last].heads == nil, let request else {
            return transactions
        }
        let sent = report.redirects.last.map(request.following) ?? request
        if let head = try? HTTPRequest(sent, bodyLength: nil) {
            transactions[last].heads = TransactionHeads(request: head, response: response)
        }
        return transactions
    }
}

// The nonnumeric properties of `URLSessionTaskTransactionMetrics`, with the same types.
extension TransactionMetrics {
    /// The request that was sent, without its body. If the metrics were created without a request, the URL is `about:blank`.
    public var request: URLRequest {
        guard let request = heads?.request,
            let url = URL(keepingEscapesOf: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")")
        else { return URLRequest(url: Self.blank) }
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method.rawValue
        urlRequest.headers = HTTPHeaders(request.headerFields)
        return urlRequest
    }

    private static let blank = URL(string: "about:blank") ?? URL(filePath: "/")

    /// The response, or nil if none arrived.
    public var response: URLResponse? { heads?.response?.httpURLResponse }

    /// The source of the response: the network or a cache.
    public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType {
        isFromCache ? .localCache : requestStartDate != nil || remoteAddress != nil ? .networkLoad : .unknown
    }

    /// The negotiated TLS version, or nil if the connection doesn't use TLS or the transport doesn't report it.
    public var negotiatedTLSProtocolVersion: tls_protocol_version_t? {
        tlsProtocolNumber.flatMap { tls_protocol_version_t(rawValue: $0) }
    }

    /// The negotiated cipher suite, or nil if the connection doesn't use TLS or the transport doesn't report it.
    public var negotiatedTLSCipherSuite: tls_ciphersuite_t? {
        tlsCipherSuiteNumber.flatMap { tls_ciphersuite_t(rawValue: $0) }
    }

    /// The protocol used to resolve the host name. Always unknown.
    public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }

    /// Whether the connection used a cellular network. Always false, because this is unknown.
    public var isCellular: Bool { false }

    /// Whether the connection used an expensive network. Always false, because this is unknown.
    public var isExpensive: Bool { false }

    /// Whether the connection used a network in Low Data Mode. Always false, because this is unknown.
    public var isConstrained: Bool { false }

    /// Whether the connection used multiple paths. Always false, because multipath isn't supported.
    public var isMultipath: Bool { false }
}

/// The times of a request's main events. Times are seconds since 1 January 2001; durations are in seconds.
public struct Timeline: Sendable, Hashable {
    /// The time at which the request was first started.
    public let requestStartTime: TimeInterval
    /// The time at which the first byte of the response arrived, or the start time if no response arrived.
    public let initialResponseTime: TimeInterval
    /// The time at which the network activity ended.
    public let requestCompletedTime: TimeInterval
    /// The time at which the serialization of the response ended.
    public let serializationCompletedTime: TimeInterval

    /// Creates a timeline.
    public init(
        requestStartTime: TimeInterval = 0,
        initialResponseTime: TimeInterval = 0,
        requestCompletedTime: TimeInterval = 0,
        serializationCompletedTime: TimeInterval = 0
    ) {
        self.requestStartTime = requestStartTime
        self.initialResponseTime = initialResponseTime
        self.requestCompletedTime = requestCompletedTime
        self.serializationCompletedTime = serializationCompletedTime
    }

    /// The time from the start to the first byte of the response.
    public var latency: TimeInterval { initialResponseTime - requestStartTime }
    /// The time from the start to the end of the network activity.
    public var requestDuration: TimeInterval { requestCompletedTime - requestStartTime }
    /// The time from the end of the network activity to the end of serialization.
    public var serializationDuration: TimeInterval { serializationCompletedTime - requestCompletedTime }
    /// The time from the start to the end of serialization.
    public var totalDuration: TimeInterval { serializationCompletedTime - requestStartTime }
}

extension Timeline: CustomStringConvertible, CustomDebugStringConvertible {
    /// The durations.
    public var description: String {
        """
        latency \(Self.seconds(latency)), request \(Self.seconds(requestDuration)), \
        serialization \(Self.seconds(serializationDuration)), total \(Self.seconds(totalDuration))
        """
    }

    /// The times and the durations.
    public var debugDescription: String {
        """
        start \(Self.moment(requestStartTime)), first byte \(Self.moment(initialResponseTime)), \
        completed \(Self.moment(requestCompletedTime)), serialized \(Self.moment(serializationCompletedTime)); \
        \(description)
        """
    }

    private static func seconds(_ duration: TimeInterval) -> String { String(format: "%.3f s", duration) }

    private static func moment(_ time: TimeInterval) -> String {
        Date(timeIntervalSinceReferenceDate: time).formatted(.iso8601.time(includingFractionalSeconds: true))
    }
}
