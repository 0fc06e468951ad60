public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Retries requests that failed because there was no network, as soon as there is one again.
///
/// A request that failed so waits until the network is there, and is sent again; when that takes too long, it fails with
/// what it failed with. While the provider says that there is no network, a host whose name could not be found counts as
/// well, whatever ``isOfflineError`` says: without a network no name server answers.
///
/// Where there seems to be a network all the same, the request is sent again at once, but only once for each network: if
/// it fails again, it waits until that network has gone or another one has come. So a host that cannot be reached is never
/// tried in a circle. The method does not matter, as nothing was sent; a request whose body was read already is not
/// retried. Without a provider, the retrier's or the session's, nothing is.
public final class OfflineRetrier: RequestInterceptor, Sendable {
    /// How long a request waits for a network at most: 5 seconds.
    public static let defaultWait: DispatchTimeInterval = .seconds(5)

    /// The network errors that say that there is no network: `notConnectedToInternet`.
    public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]

    /// Whether an error, or the one that it holds, is one of ``defaultURLErrorOfflineCodes``.
    public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { error in
        error.urlErrorCode.map(defaultURLErrorOfflineCodes.contains) ?? false
    }

    /// How long a request waits for a network at most.
    public let maximumWait: DispatchTimeInterval
    /// Whether an error says that there is no network.
    public let isOfflineError: @Sendable (_ error: any Error) -> Bool
    private let provider: (any ConnectivityProvider)?
    private let isUsable: @Sendable (Connectivity) -> Bool

    /// Makes a retrier.
    ///
    /// - Parameters:
    ///   - monitor: Knows whether there is a network. The default is nil: the session's provider is asked.
    ///   - maximumWait: How long a request waits at most, `.never` for as long as it takes. The default is 5 seconds.
    ///   - isOfflineError: Whether an error says that there is no network. It is called on no particular thread. The default
    ///     is ``defaultIsOfflineError``.
    @preconcurrency
    public convenience init(
        monitor: (any ConnectivityProvider)? = nil,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) {
        self.init(monitor, maximumWait, isOfflineError) { $0.isOnline }
    }

    /// Makes a retrier that waits for a network of one type. Where the types are not known, any will do.
    ///
    /// - Parameters:
    ///   - requiredInterfaceType: The type of which one interface must be.
    ///   - maximumWait: How long a request waits at most, `.never` for as long as it takes. The default is 5 seconds.
    ///   - isOfflineError: Whether an error says that there is no network. It is called on no particular thread. The default
    ///     is ``defaultIsOfflineError``.
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

    /// Makes a retrier that waits for a network that is not of certain types. Where the types are not known, any will do.
    ///
    /// - Parameters:
    ///   - prohibitedInterfaceTypes: The types of which not all interfaces may be.
    ///   - maximumWait: How long a request waits at most, `.never` for as long as it takes. The default is 5 seconds.
    ///   - isOfflineError: Whether an error says that there is no network. It is called on no particular thread. The default
    ///     is ``defaultIsOfflineError``.
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

    /// Retries at once, or when there is a network, or does not.
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let isOfflineError = isOfflineError(error)
        guard isOfflineError || error.isUnfoundHost, !request.hasSpentItsBody,
            let provider = provider ?? session.connectivity
        else { return completion(.doNotRetry) }
        let present = provider.connectivity
        guard isOfflineError || !present.isOnline else { return completion(.doNotRetry) }
        // A network that has gone meanwhile is as good as another one when it comes back.
        let tried = isUsable(present) ? request.connectivityTried(by: self) : nil
        if isUsable(present), present != tried {
            request.noteConnectivity(present, triedBy: self)
            return completion(.retry)
        }
        // The session is not held, or it would live as long as a request waits.
        request.run { [self] in
            guard
                case .over(let connectivity) = await provider.wait(
                    upTo: maximumWait.duration, differingFrom: tried, until: isUsable)
            else { return completion(.doNotRetry) }
            request.noteConnectivity(connectivity, triedBy: self)
            completion(.retry)
        }
    }
}

extension Request {
    /// The network over which a retrier has had the request sent last.
    fileprivate func connectivityTried(by retrier: OfflineRetrier) -> Connectivity? {
        mutable.withLock { $0.connectivityTried[ObjectIdentifier(retrier)] }
    }

    fileprivate func noteConnectivity(_ connectivity: Connectivity, triedBy retrier: OfflineRetrier) {
        mutable.withLock { $0.connectivityTried[ObjectIdentifier(retrier)] = connectivity }
    }
}

extension Error {
    fileprivate var urlErrorCode: URLError.Code? {
        if let error = self as? URLError { return error.code }
        return asAFError?.underlyingError?.urlErrorCode
    }

    fileprivate var isUnfoundHost: Bool { urlErrorCode == .cannotFindHost || urlErrorCode == .dnsLookupFailed }
}

extension DispatchTimeInterval {
    /// Nil for ever.
    fileprivate var duration: Duration? {
        switch self {
        case .seconds(let count): .seconds(count)
        case .milliseconds(let count): .milliseconds(count)
        case .microseconds(let count): .microseconds(count)
        case .nanoseconds(let count): .nanoseconds(count)
        case .never: nil
        @unknown default: nil
        }
    }
}
