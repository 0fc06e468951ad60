public import AfarCore
import AfarTransport
public import CoreMetrics
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

#if !Metrics
    #error("AfarMetrics requires the package trait Metrics: .package(url: …, traits: [.defaults, \"Metrics\"])")
#endif

/// A monitor that reports a session's requests to swift-metrics.
///
/// ```swift
/// let session = Session(eventMonitors: [MetricsMonitor()])
/// ```
///
/// | Label | Kind | Meaning |
/// | --- | --- | --- |
/// | `http.client.active_requests` | meter | requests that have been resumed and haven't ended |
/// | `http.client.request.duration` | timer | the duration of an attempt |
/// | `http.client.request.phase.duration` | timer | a phase: `phase` is `dns`, `connect`, `tls`, `send`, `wait` or `receive` |
/// | `http.client.request.body.size` | recorder | the number of request body bytes sent |
/// | `http.client.response.body.size` | recorder | the number of response body bytes received, before decoding |
/// | `http.client.connections` | counter | the connections used; the dimension `state` is `opened` or `reused` |
/// | `http.client.retries` | counter | the retries started |
///
/// ``reportConnections(of:every:)`` also reports the connections that are open.
///
/// Each request that is sent is an attempt. This includes each hop of a redirect, each request that responds to a challenge,
/// and each retry. An attempt has the dimensions `server.address` (the host), `http.request.method`, and
/// `http.response.status_class` (`2xx`) or, without a response, `error.type` (the code of the ``TransportError``).
/// `http.client.active_requests` and `http.client.retries` have no dimensions.
public final class MetricsMonitor: EventMonitor {
    /// The queue on which the monitor is notified.
    public let queue = DispatchQueue(label: "afar.metrics")

    private let factory: any MetricsFactory
    private let hostLimit: Int
    private let active: Meter
    private let retries: Counter
    private let lock = NSLock()
    // Safe because it's only used under the lock.
    private nonisolated(unsafe) var state = State()

    private struct State {
        var running: Set<UUID> = []
        /// The metrics of attempts that are being completed, by request.
        var gathered: [UUID: TaskMetrics] = [:]
        var hosts: Set<String> = []
        var instruments: [Attempt: Instruments] = [:]

        /// Returns the name to report for a host in the dimensions. Hosts beyond the limit are reported as `other`.
        mutating func name(of host: String, limit: Int) -> String {
            guard hosts.contains(host) || hosts.count < limit else { return "other" }
            hosts.insert(host)
            return host
        }
    }

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - factory: The factory for the instruments. The default is the bootstrapped factory.
    ///   - hostLimit: The maximum number of hosts in the dimensions. Additional hosts are reported as `other`. The default is 100.
    public init(factory: any MetricsFactory = MetricsSystem.factory, hostLimit: Int = 100) {
        (self.factory, self.hostLimit) = (factory, hostLimit)
        active = Meter(label: "http.client.active_requests", factory: factory)
        retries = Counter(label: "http.client.retries", factory: factory)
    }

    /// Counts a request as active when it's resumed for the first time.
    public func requestDidResume(_ request: Request) {
        let isNew = lock.withLock { state.running.insert(request.id).inserted }
        if isNew { active.increment() }
    }

    /// Stops counting a request as active.
    public func requestDidFinish(_ request: Request) {
        let wasRunning = lock.withLock {
            state.gathered[request.id] = nil
            return state.running.remove(request.id) != nil
        }
        if wasRunning { active.decrement() }
    }

    /// Counts a retry.
    public func requestIsRetrying(_ request: Request) { retries.increment() }

    /// Stores the metrics of an attempt.
    public func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        lock.withLock { state.gathered[request.id] = metrics }
    }

    /// Reports a completed attempt.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        // The request itself may already be in its next attempt.
        let gathered = lock.withLock { state.gathered.removeValue(forKey: request.id) }
        for metrics in gathered?.transactionMetrics ?? [] {
            guard let head = metrics.requestHead else { continue }
            let outcome: Attempt.Outcome =
                if let response = metrics.responseHead {
                    .statusClass("\(response.status / 100)xx")
                } else {
                    .error((error?.transportError?.code ?? .unknown).description)
                }
            instruments(for: Exchange(request: head).host, head.method.rawValue, outcome).record(metrics)
        }
    }

    /// Until the task is canceled, reports a session's connections, by host, in these meters:
    ///
    /// | Label | Meaning |
    /// | --- | --- |
    /// | `http.client.open_connections` | open connections; the dimension `http.connection.state` is `active` or `idle` |
    /// | `http.client.waiting_requests` | requests without a connection |
    ///
    /// Their dimension `server.address` is the host with scheme and port. The meters of a host without connections are set to 0. If the
    /// session's transport can't report its connections, nothing is reported.
    ///
    /// - Parameters:
    ///   - session: The session. The method retains it.
    ///   - interval: The time between two reports, at least 1 millisecond. The default is 10 seconds.
    public func reportConnections(of session: Session, every interval: Duration = .seconds(10)) async {
        var reported: [String: ConnectionMeters] = [:]
        repeat {
            let hosts = await session.connectionStatistics?.hosts ?? []
            var sums: [String: ConnectionStatistics.Host] = [:]
            for host in hosts {
                let isNamed = reported[host.origin] != nil || reported.count < hostLimit
                let name = isNamed ? host.origin : "other"
                if reported[name] == nil { reported[name] = ConnectionMeters(name, factory) }
                let sum = sums[name]
                sums[name] = ConnectionStatistics.Host(
                    origin: name, idle: host.idle + (sum?.idle ?? 0), inUse: host.inUse + (sum?.inUse ?? 0),
                    waiting: host.waiting + (sum?.waiting ?? 0))
            }
            for (name, meters) in reported { meters.set(sums[name]) }
        } while (try? await session.configuration.timeSource.sleep(for: max(interval, .milliseconds(1)))) != nil
    }

    private func instruments(for host: String, _ method: String, _ outcome: Attempt.Outcome) -> Instruments {
        lock.withLock {
            let attempt = Attempt(host: state.name(of: host, limit: hostLimit), method: method, outcome: outcome)
            if let known = state.instruments[attempt] { return known }
            let instruments = Instruments(attempt.dimensions, factory)
            state.instruments[attempt] = instruments
            return instruments
        }
    }
}

/// The dimensions of an attempt.
private struct Attempt: Hashable {
    enum Outcome: Hashable {
        case statusClass(String)
        case error(String)
    }

    let host: String
    let method: String
    let outcome: Outcome

    var dimensions: [(String, String)] {
        let last =
            switch outcome {
            case .statusClass(let name): ("http.response.status_class", name)
            case .error(let code): ("error.type", code)
            }
        return [("server.address", host), ("http.request.method", method), last]
    }
}

private enum Phase: String, CaseIterable {
    case dns, connect, tls, send, wait, receive

    /// Returns the duration of the phase, or nil if it didn't occur.
    func duration(in metrics: TransactionMetrics) -> TimeInterval? {
        switch self {
        case .dns: metrics.domainLookupStartDate.time(to: metrics.domainLookupEndDate)
        case .connect:
            metrics.connectStartDate.time(to: metrics.secureConnectionStartDate ?? metrics.connectEndDate)
        case .tls: metrics.secureConnectionStartDate.time(to: metrics.secureConnectionEndDate)
        case .send: metrics.requestStartDate.time(to: metrics.requestEndDate)
        case .wait: metrics.requestEndDate.time(to: metrics.responseStartDate)
        case .receive: metrics.responseStartDate.time(to: metrics.responseEndDate)
        }
    }
}

private struct Instruments: Sendable {
    private let duration: CoreMetrics.Timer
    private let phases: [Phase: CoreMetrics.Timer]
    private let sent: Recorder
    private let received: Recorder
    private let opened: Counter
    private let reused: Counter

    init(_ dimensions: [(String, String)], _ factory: any MetricsFactory) {
        duration = CoreMetrics.Timer(label: "http.client.request.duration", dimensions: dimensions, factory: factory)
        let timers = Phase.allCases.map { phase in
            CoreMetrics.Timer(
                label: "http.client.request.phase.duration", dimensions: dimensions + [("phase", phase.rawValue)],
                factory: factory)
        }
        phases = Dictionary(uniqueKeysWithValues: zip(Phase.allCases, timers))
        sent = Recorder(label: "http.client.request.body.size", dimensions: dimensions, factory: factory)
        received = Recorder(label: "http.client.response.body.size", dimensions: dimensions, factory: factory)
        func counter(_ state: String) -> Counter {
            Counter(label: "http.client.connections", dimensions: dimensions + [("state", state)], factory: factory)
        }
        (opened, reused) = (counter("opened"), counter("reused"))
    }

    func record(_ metrics: TransactionMetrics) {
        if let time = metrics.fetchStartDate.time(to: metrics.responseEndDate) {
            duration.recordSeconds(time)
        }
        for (phase, timer) in phases {
            if let time = phase.duration(in: metrics) { timer.recordSeconds(time) }
        }
        sent.record(metrics.countOfRequestBodyBytesSent)
        received.record(metrics.countOfResponseBodyBytesReceived)
        if metrics.isReusedConnection {
            reused.increment()
        } else if metrics.connectEndDate != nil {
            opened.increment()
        }
    }
}

private struct ConnectionMeters {
    private let active: Meter
    private let idle: Meter
    private let waiting: Meter

    init(_ host: String, _ factory: any MetricsFactory) {
        let dimensions = [("server.address", host)]
        func connections(_ state: String) -> Meter {
            Meter(
                label: "http.client.open_connections", dimensions: dimensions + [("http.connection.state", state)],
                factory: factory)
        }
        (active, idle) = (connections("active"), connections("idle"))
        waiting = Meter(label: "http.client.waiting_requests", dimensions: dimensions, factory: factory)
    }

    func set(_ host: ConnectionStatistics.Host?) {
        active.set(host?.inUse ?? 0)
        idle.set(host?.idle ?? 0)
        waiting.set(host?.waiting ?? 0)
    }
}

extension Date? {
    /// Returns the seconds until another date, or nil if a date is missing or the clock was set back.
    fileprivate func time(to end: Date?) -> TimeInterval? {
        guard let self, let end, end >= self else { return nil }
        return end.timeIntervalSince(self)
    }
}
