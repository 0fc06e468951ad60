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
/// Where there seems to be a network all the same, its loss may not be known yet: 0.3 seconds are left for that. Then the
/// request is sent again, but only once for each network: if it fails again, it waits until that network has gone or another
/// one has come. So a host that cannot be reached is never tried in a circle. Where it cannot be known whether there is a
/// network, the request is sent again once, at once. The method does not matter, as nothing was sent; a request whose body
/// was read already is not retried. Without a provider, the retrier's or the session's, nothing is.
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
    ///   - isOfflineError: Whether an error says that there is no network. It is called on an unspecified thread. The
    ///     default is ``defaultIsOfflineError``.
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
    ///   - isOfflineError: Whether an error says that there is no network. It is called on an unspecified thread. The
    ///     default is ``defaultIsOfflineError``.
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
    ///   - isOfflineError: Whether an error says that there is no network. It is called on an unspecified thread. The
    ///     default is ``defaultIsOfflineError``.
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

    /// Retries after a moment, or when there is a network, or does not.
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
        let tried = request.connectivityTried(by: self)
        if present.status == .unknown {
            // There will be no updates to wait for.
            guard isOfflineError, present != tried else { return completion(.doNotRetry) }
            if isUsable(present) {
                request.noteConnectivity(present, triedBy: self)
                return completion(.retry)
            }
        }
        // The session is not held, or it would live as long as a request waits.
        request.run { [self] in
            let connectivity = await network(of: provider, at: present, after: tried, isOfflineError: isOfflineError)
            guard let connectivity, !Task.isCancelled else { return completion(.doNotRetry) }
            request.noteConnectivity(connectivity, triedBy: self)
            completion(.retry)
        }
    }

    /// Waits for the network over which to try again.
    ///
    /// - Parameters:
    ///   - present: What the provider said when the request had failed.
    ///   - tried: The network over which the request was sent last. Once it has gone it is as good as another one.
    ///   - isOfflineError: Whether the error alone says that there is no network.
    /// - Returns: Nil when the request is not to be sent again.
    private func network(
        of provider: any ConnectivityProvider, at present: Connectivity, after tried: Connectivity?,
        isOfflineError: Bool
    ) async -> Connectivity? {
        let limit = maximumWait.duration
        var tried = tried
        if present.status == .online, !isOfflineError || (isUsable(present) && present != tried) {
            guard await provider.detectsLoss(within: limit) else { return isOfflineError ? present : nil }
            tried = nil
        }
        let outcome = await provider.wait(upTo: limit, differingFrom: tried, until: isUsable)
        if case .over(let connectivity) = outcome { return connectivity }
        return nil
    }
}

extension Request {
    /// The network over which a retrier has had the request sent last.
    fileprivate func connectivityTried(by retrier: OfflineRetrier) -> Connectivity? {
        mutable.withLock { $0.interceptorRecords.connectivityTried[ObjectIdentifier(retrier)] }
    }

    fileprivate func noteConnectivity(_ connectivity: Connectivity, triedBy retrier: OfflineRetrier) {
        mutable.withLock { $0.interceptorRecords.connectivityTried[ObjectIdentifier(retrier)] = connectivity }
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
    /// No longer than a clock can count from now.
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
