public import Foundation

/// What is otherwise for one request than for its session. What is nil is as the session has it.
public struct RequestOptions: Sendable {
    /// How long the request may take in all, in seconds, from its start: all attempts, the delays between them, interceptors and
    /// suspension included. When it has passed, the request ends with a `URLError` of the code `timedOut`.
    public var deadline: TimeInterval?
    /// How long each attempt may take in all, in seconds, like `timeoutIntervalForResource` of a session.
    public var totalTimeout: TimeInterval?
    /// How long finding the host, connecting and securing the connection may take together, in seconds.
    public var connectTimeout: TimeInterval?
    /// How long nothing may arrive or leave, in seconds. It comes before the `timeoutInterval` of a `URLRequest`.
    public var idleTimeout: TimeInterval?
    /// The version of HTTP.
    public var httpVersion: ExchangeOptions.HTTPVersion?
    /// Whether a compressed body is decoded, like ``SessionConfiguration/decodesContent``.
    public var decodesContent: Bool?
    /// How the request reaches its host: through a proxy, over a Unix socket, from an interface.
    public var network: NetworkSettings?

    /// Makes options that are those of the session.
    public init() {}

    func apply(to options: inout ExchangeOptions) {
        if let totalTimeout { options.totalTimeout = totalTimeout }
        if let connectTimeout { options.connectTimeout = connectTimeout }
        if let idleTimeout { options.idleTimeout = idleTimeout }
        if let httpVersion { options.httpVersion = httpVersion }
        if let decodesContent { options.decodesContent = decodesContent }
        if let network { options.network = network }
    }

    /// Options that are kept by reference, since most requests have none.
    final class Box: Sendable {
        let options: RequestOptions

        init(_ options: RequestOptions) { self.options = options }
    }
}

extension Request {
    /// Changes what is otherwise for this request than for its session.
    ///
    /// ```swift
    /// session.request(url).options { $0.deadline = 5 }
    /// ```
    ///
    /// To be called before the request is sent; an attempt that runs already goes by what it began with, but for the
    /// ``RequestOptions/deadline``.
    ///
    /// - Parameter change: Changes the options that the request has.
    @discardableResult
    public func options(_ change: (inout RequestOptions) -> Void) -> Self {
        var options = options
        change(&options)
        let isStarted = mutable.withLock { state in
            state.options = RequestOptions.Box(options)
            return state.isStarted
        }
        if isStarted { keepDeadline() }
        return self
    }

    /// What is otherwise for this request than for its session.
    public var options: RequestOptions { mutable.withLock { $0.options }?.options ?? RequestOptions() }

    /// Ends the request when its deadline has passed, counted from its start.
    func keepDeadline() {
        let (options, start) = mutable.withLock { ($0.options, $0.startTime) }
        guard let deadline = options?.options.deadline else { return }
        let rest = max(0, min(start + deadline - Date.timeIntervalSinceReferenceDate, 1e9))
        let timer = Task { [weak self] in
            guard (try? await Task.sleep(for: .seconds(rest))) != nil else { return }
            self?.end(with: .deadlinePassed(deadline))
        }
        let (last, isOver) = mutable.withLock { state in
            (Swift.exchange(&state.deadlineTimer, with: timer), !state.isActive)
        }
        last?.cancel()
        if isOver { timer.cancel() }
    }
}

extension AFError {
    fileprivate static func deadlinePassed(_ deadline: TimeInterval) -> AFError {
        let error = TransportError(
            .timedOut, phase: .queued, url: nil, message: "the request's deadline of \(deadline.formatted()) s passed")
        return .sessionTaskFailed(error: error.urlError)
    }
}
