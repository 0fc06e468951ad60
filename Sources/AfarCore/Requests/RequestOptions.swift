public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Options of one request: a deadline, and any ``ExchangeOptions`` that override the session's configuration.
///
/// ```swift
/// session.request(url).options { options in
///     options.deadline = 30
///     options.connectTimeout = 2
///     options.network = direct
/// }
/// ```
///
/// If an option is nil, the request uses the session's value. To override an optional value of the session with nil, set the
/// option to `.some(nil)`. `idleTimeout` takes precedence over the `timeoutInterval` of a `URLRequest`. `network` and
/// `defaultFields` replace the session's values entirely.
@dynamicMemberLookup
public struct RequestOptions: Sendable {
    private struct Override: Sendable {
        let option: any PartialKeyPath<ExchangeOptions> & Sendable
        let value: any Sendable
        let apply: @Sendable (inout ExchangeOptions) -> Void
    }

    /// The maximum duration of the request from its start, in seconds. The duration includes all attempts, the delays between
    /// them, interceptors and suspension. After the deadline, the request fails with a `URLError` with the code `timedOut`.
    public var deadline: TimeInterval?

    /// The overrides in the order in which they were set.
    private var overrides: [Override] = []

    /// Creates options that override nothing.
    public init() {}

    /// The value that overrides the session's value, or nil to use the session's value.
    public subscript<Value: Sendable>(dynamicMember option: any WritableKeyPath<ExchangeOptions, Value> & Sendable)
        -> Value?
    {
        get {
            guard let override = overrides.last(where: { $0.option == option }) else { return nil }
            return override.value as? Value
        }
        set {
            overrides.removeAll { $0.option == option }
            guard let newValue else { return }
            overrides.append(Override(option: option, value: newValue) { $0[keyPath: option] = newValue })
        }
    }

    func apply(to options: inout ExchangeOptions) {
        for override in overrides { override.apply(&options) }
    }

    /// Stores options by reference to keep requests small, because most requests have no options.
    final class Box: Sendable {
        let options: RequestOptions

        init(_ options: RequestOptions) { self.options = options }
    }
}

extension Request {
    /// Changes the request's options, which override the session's configuration.
    ///
    /// ```swift
    /// session.request(url).options { $0.deadline = 5 }
    /// ```
    ///
    /// Call this method before the request is sent. An attempt in progress keeps its options, except for the
    /// ``RequestOptions/deadline``.
    ///
    /// - Parameter change: Changes the options. Called again if another thread has changed them in the meantime.
    @discardableResult
    public func options(_ change: (inout RequestOptions) -> Void) -> Self {
        while true {
            let last = mutable.withLock { $0.settings.options }
            var options = last?.options ?? RequestOptions()
            change(&options)
            let (isChanged, isStarted) = mutable.withLock { state in
                guard state.settings.options === last else { return (false, false) }
                state.settings.options = RequestOptions.Box(options)
                return (true, state.isStarted)
            }
            guard isChanged else { continue }
            if isStarted { scheduleDeadline() }
            return self
        }
    }

    /// The request's options, which override the session's configuration.
    public var options: RequestOptions { mutable.withLock { $0.settings.options }?.options ?? RequestOptions() }

    /// Schedules the end of the request at its deadline, measured from its start.
    func scheduleDeadline() {
        let (options, start) = mutable.withLock { ($0.settings.options, $0.startTime) }
        guard let start, let deadline = options?.options.deadline else { return }
        let rest = Duration(timeout: start + deadline - Date.timeIntervalSinceReferenceDate)
        // A separate queue, because users' cancellation handlers run on it.
        let queue = DispatchQueue(label: "afar.deadline")
        let timeSource = session.configuration.timeSource
        let time = timeSource.uptime + rest
        let timer = DelayedCall(after: rest, of: timeSource, on: queue) { [weak self] in
            guard let self else { return }
            end(with: .deadlinePassed(deadline, url: url))
        }
        let (last, isEnded) = mutable.withLock { state in
            (Swift.exchange(&state.deadline, with: .init(time: time, timer: timer)), !state.isActive)
        }
        last?.timer.cancel()
        if isEnded { timer.cancel() }
    }
}

/// The deadline of an exchange's request, as the ``TimeSource/uptime`` of the session's time source. The default is nil: the
/// request has no deadline.
///
/// At a request's ``RequestOptions/deadline``, the session ends the request and cancels its exchange. A stage can read this value to distinguish
/// the deadline from a cancellation by the caller, or to pass the remaining time to the server:
///
/// ```swift
/// let remaining = exchange.context[RequestDeadline.self].map { $0 - exchange.options.timeSource.uptime }
/// ```
public enum RequestDeadline: ExchangeContextKey {
    /// Nil.
    public static let defaultValue: Duration? = nil
}

extension Request {
    /// The URL of the last `URLRequest`, without userinfo, or nil if none has been created.
    private var url: String? {
        guard let url = lastRequest.map(sink.httpForm(of:))?.url, let target = try? RequestTarget(url) else {
            return nil
        }
        return "\(target.scheme)://\(target.authority)\(target.path)"
    }
}

extension AFError {
    fileprivate static func deadlinePassed(_ deadline: TimeInterval, url: String?) -> AFError {
        let error = TransportError(
            .timedOut, phase: .queued, url: url, message: "the request's deadline of \(deadline.formatted()) s passed")
        return .sessionTaskFailed(error: error.urlError)
    }

    /// If this is the error of a deadline, returns it with the phase, URL and peer of the exchange that failed. Returns any
    /// other error unchanged.
    func located(at failure: TransportError) -> AFError {
        guard case .sessionTaskFailed(let error as URLError) = self,
            var deadline = error.userInfo[NSUnderlyingErrorKey] as? TransportError, deadline.code == .timedOut
        else { return self }
        (deadline.phase, deadline.url, deadline.peer) = (failure.phase, failure.url, failure.peer)
        return .sessionTaskFailed(error: deadline.urlError)
    }
}
