public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A retrier for requests that failed because no network was available. It retries the requests as soon as a network becomes
/// available.
///
/// A failed request waits for a network and is then sent again. If the wait exceeds ``maximumWait``, the request fails with its
/// original error. A connectivity provider reports whether a network is available. While the provider reports no network, no name
/// server can be reached. Requests whose host name couldn't be resolved are therefore also retried, whatever ``isOfflineError``
/// returns.
///
/// If the provider reports a network despite the error, it might not have detected the loss yet. The retrier therefore waits up
/// to 0.3 seconds for the provider to report the loss. Then the request is sent again, but only once per network. If the request
/// fails again, it waits until that network is lost or another network becomes available. Requests to an unreachable host are
/// therefore never retried in a loop.
///
/// If the provider can't determine whether a network is available, the request is sent again immediately, but only once.
/// Requests with any method are retried, because nothing was sent. A request whose body was already read isn't retried. If
/// neither the retrier nor the session has a provider, no request is retried.
public final class OfflineRetrier: RequestInterceptor, Sendable {
    /// The default for the maximum time that a request waits for a network: 5 seconds.
    public static let defaultWait: DispatchTimeInterval = .seconds(5)

    /// The network errors that indicate that no network is available: `notConnectedToInternet`.
    public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]

    /// Returns whether an error, or its underlying error, is one of ``defaultURLErrorOfflineCodes``.
    public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { error in
        error.urlErrorCode.map(defaultURLErrorOfflineCodes.contains) ?? false
    }

    /// The maximum time that a request waits for a network.
    public let maximumWait: DispatchTimeInterval
    /// Returns whether an error indicates that no network is available.
    public let isOfflineError: @Sendable (_ error: any Error) -> Bool
    private let provider: (any ConnectivityProvider)?
    private let isUsable: @Sendable (Connectivity) -> Bool

    /// Creates a retrier.
    ///
    /// - Parameters:
    ///   - monitor: Reports whether a network is available. The default is nil, which uses the session's provider.
    ///   - maximumWait: The maximum time that a request waits, or `.never` for no limit. The default is 5 seconds.
    ///   - isOfflineError: Returns whether an error indicates that no network is available. Called on an unspecified thread. The
    ///     default is ``defaultIsOfflineError``.
    @preconcurrency
    public convenience init(
        monitor: (any ConnectivityProvider)? = nil,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) {
        self.init(monitor, maximumWait, isOfflineError) { $0.isOnline }
    }

    /// Creates a retrier that waits for a network with at least one interface of a specific type. If the types are unknown, any
    /// network is used.
    @preconcurrency
    public convenience init(
        requiredInterfaceType: Connectivity.InterfaceType,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) {
        self.init(nil, maximumWait, isOfflineError) { connectivity in
            let types = connectivity.interfaceTypes
            return connectivity.isOnline && (types.isEmpty || types.contains(requiredInterfaceType))
        }
    }

    /// Creates a retrier that waits for a network with at least one interface whose type isn't prohibited. If the types are
    /// unknown, any network is used.
    @preconcurrency
    public convenience init(
        prohibitedInterfaceTypes: [Connectivity.InterfaceType],
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) {
        let prohibited = Set(prohibitedInterfaceTypes)
        self.init(nil, maximumWait, isOfflineError) { connectivity in
            let types = connectivity.interfaceTypes
            return connectivity.isOnline && (types.isEmpty || !types.isSubset(of: prohibited))
        }
    }

    private init(
        _ provider: (any ConnectivityProvider)?,
        _ maximumWait: DispatchTimeInterval,
        _ isOfflineError: @escaping @Sendable (any Error) -> Bool,
        isUsable: @escaping @Sendable (Connectivity) -> Bool
    ) {
        self.provider = provider
        self.maximumWait = maximumWait
        self.isOfflineError = isOfflineError
        self.isUsable = isUsable
    }

    /// Decides to retry after a short wait or when a network becomes available, or not to retry.
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let isOfflineError = isOfflineError(error)
        guard isOfflineError || error.isHostNotFound, !request.isBodyConsumed,
            let provider = provider ?? session.connectivity
        else { return completion(.doNotRetry) }
        let current = provider.connectivity
        let tried = request.connectivityTried(by: self)
        if current.status == .unknown {
            // The provider reports no updates after an unknown status.
            guard isOfflineError, current != tried else { return completion(.doNotRetry) }
            if isUsable(current) {
                request.recordConnectivity(current, triedBy: self)
                return completion(.retry)
            }
        }
        // The work doesn't retain the session while the request waits.
        request.run { [self] in
            let connectivity = await network(of: provider, at: current, after: tried, isOfflineError: isOfflineError)
            guard let connectivity, !Task.isCancelled else { return completion(.doNotRetry) }
            request.recordConnectivity(connectivity, triedBy: self)
            completion(.retry)
        }
    }

    /// Waits for the network over which to retry.
    ///
    /// - Parameters:
    ///   - current: The provider's report when the request failed.
    ///   - tried: The network over which the request was last sent. After it has been lost, it can be used again.
    ///   - isOfflineError: Whether the error alone indicates that no network is available.
    /// - Returns: The network, or nil if the request isn't retried.
    private func network(
        of provider: any ConnectivityProvider, at current: Connectivity, after tried: Connectivity?,
        isOfflineError: Bool
    ) async -> Connectivity? {
        let limit = maximumWait.duration
        var tried = tried
        if current.status == .online, !isOfflineError || (isUsable(current) && current != tried) {
            guard await provider.detectsLoss(within: limit) else { return isOfflineError ? current : nil }
            tried = nil
        }
        let outcome = await provider.wait(upTo: limit, differingFrom: tried, until: isUsable)
        if case .satisfied(let connectivity) = outcome { return connectivity }
        return nil
    }
}

extension Request {
    /// Returns the network over which a retrier last retried the request.
    fileprivate func connectivityTried(by retrier: OfflineRetrier) -> Connectivity? {
        mutable.withLock { $0.interceptorRecords.connectivityTried[ObjectIdentifier(retrier)] }
    }

    fileprivate func recordConnectivity(_ connectivity: Connectivity, triedBy retrier: OfflineRetrier) {
        mutable.withLock { $0.interceptorRecords.connectivityTried[ObjectIdentifier(retrier)] = connectivity }
    }
}

extension Error {
    fileprivate var urlErrorCode: URLError.Code? {
        if let error = self as? URLError { return error.code }
        return asAFError?.underlyingError?.urlErrorCode
    }

    fileprivate var isHostNotFound: Bool { urlErrorCode == .cannotFindHost || urlErrorCode == .dnsLookupFailed }
}

extension DispatchTimeInterval {
    /// The interval, limited to a duration that a clock can add to the current time.
    fileprivate var duration: Duration {
        let longest = Duration.seconds(1_000_000_000)
        return switch self {
        case .seconds(let count): min(.seconds(count), longest)
        case .milliseconds(let count): min(.milliseconds(count), longest)
        case .microseconds(let count): min(.microseconds(count), longest)
        case .nanoseconds(let count): min(.nanoseconds(count), longest)
        case .never: longest
        @unknown default: longest
        }
    }
}

extension RequestRetrier where Self == OfflineRetrier {
    /// The default retrier for requests that failed because no network was available. See ``OfflineRetrier``.
    public static var offlineRetrier: OfflineRetrier { OfflineRetrier() }

    /// Returns a retrier for requests that failed because no network was available.
    @preconcurrency
    public static func offlineRetrier(
        monitor: (any ConnectivityProvider)? = nil,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(monitor: monitor, maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// Returns a retrier that waits for a network of a specific type.
    @preconcurrency
    public static func offlineRetrier(
        requiredInterfaceType: Connectivity.InterfaceType,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            requiredInterfaceType: requiredInterfaceType, maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// Returns a retrier that waits for a network of a type that isn't prohibited.
    @preconcurrency
    public static func offlineRetrier(
        prohibitedInterfaceTypes: [Connectivity.InterfaceType],
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            prohibitedInterfaceTypes: prohibitedInterfaceTypes, maximumWait: maximumWait,
            isOfflineError: isOfflineError)
    }
}
