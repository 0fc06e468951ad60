public import HTTPTypes

/// The rules for sending a second request if the response to the first one is late.
///
/// The response whose head arrives first is used, and the other request is canceled. Requests are hedged only if they have one of the
/// ``methods``, their response is collected in memory, and their body can be sent again. Requests to a host aren't hedged while its circuit
/// isn't closed, or after a response with the status 429 or 503 and a `Retry-After` (RFC 9110, section 10.2.3).
public struct Hedging: Sendable, Hashable {
    /// The time after which the second request is sent.
    public enum Delay: Sendable, Hashable {
        /// A fixed time.
        case fixed(Duration)
        /// A percentile of the host's last 128 latencies, from 0 to 1. The latency is the time until the response's head. Hedging
        /// begins when 32 latencies have been measured.
        case percentile(Double)
    }

    /// The time after which the second request is sent. The default is the 95th percentile of the host's recent latencies.
    public var delay: Delay
    /// The maximum ratio of second requests to the requests that can be hedged. The default is 0.1.
    public var maximumRatio: Double
    /// The methods of requests that can be hedged. The default is GET, HEAD, OPTIONS and QUERY.
    ///
    /// Other idempotent methods aren't included, because the canceled request can reach the server late. A late PUT could overwrite newer
    /// content, and the status of a repeated DELETE could be 404.
    public var methods: Set<HTTPRequest.Method>

    /// Creates rules.
    public init(
        delay: Delay = .percentile(0.95), maximumRatio: Double = 0.1,
        methods: Set<HTTPRequest.Method> = Hedging.safeMethods
    ) {
        self.delay = delay
        self.maximumRatio = maximumRatio
        self.methods = methods
    }

    /// GET, HEAD, OPTIONS and QUERY.
    public static let safeMethods: Set<HTTPRequest.Method> = Set(
        [.get, .head, .options] + [.init("QUERY")].compactMap { $0 })
}

/// The last latencies of a host, in a ring.
struct LatencyWindow: Sendable {
    private static let capacity = 128
    private static let minimumCount = 32
    /// The number of latencies after which the percentile is computed again.
    private static let period = 16

    private let rank: Double
    private var latencies: [Duration] = []
    private var recordCount = 0
    /// The percentile; nil if there are too few latencies.
    private(set) var percentile: Duration?

    init(_ delay: Hedging.Delay?) {
        if case .percentile(let rank)? = delay { self.rank = min(max(0, rank), 1) } else { rank = 0 }
    }

    mutating func record(_ latency: Duration) {
        if latencies.count < Self.capacity {
            latencies.append(latency)
        } else {
            latencies[recordCount % Self.capacity] = latency
        }
        recordCount += 1
        guard recordCount % Self.period == 0, recordCount >= Self.minimumCount else { return }
        let sorted = latencies.sorted()
        percentile = sorted[max(0, Int((rank * Double(sorted.count)).rounded(.up)) - 1)]
    }
}
