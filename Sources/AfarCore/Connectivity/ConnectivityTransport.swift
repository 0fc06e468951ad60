package import Foundation

/// Holds exchanges back while there is no network, over any transport. It stands next to that, so that where a redirect
/// leads is waited for as well.
package struct ConnectivityTransport<Base: Transport>: Transport {
    let base: Base
    let provider: any ConnectivityProvider
    private let totalTimeout: TimeInterval
    /// The network of the last exchange that was sent.
    private let lastIdentity = Locked<Connectivity.Identity?>(nil)

    /// - Parameter totalTimeout: What an attempt may take in all, in seconds, for messages: an exchange knows only what is
    ///   left of it.
    package init(_ base: Base, waitingFor provider: any ConnectivityProvider, totalTimeout: TimeInterval) {
        self.base = base
        self.provider = provider
        self.totalTimeout = totalTimeout
    }

    package var capabilities: TransportCapabilities { base.capabilities }

    package func closeIdleConnections() { base.closeIdleConnections() }

    package func send(_ exchange: Exchange) async throws -> TransportResponse {
        guard !exchange.request.staysOnThisMachine else { return try await base.send(exchange) }
        let begun = ContinuousClock.now
        var next = exchange
        var report = TransportReport()
        var failure: TransportError?
        /// What a wait ended with, so that it is not taken for good news again.
        var tried: Connectivity?
        while true {
            let present = provider.connectivity
            if failure != nil || !present.isOnline {
                tried = try await wait(with: exchange, since: begun, after: failure, differingFrom: tried)
                next.options.totalTimeout = exchange.timeLeft(since: begun)
                if let tried { leaveOtherNetworks(for: tried) }
            } else if present.status == .online {
                lastIdentity.withLock { $0 = present.identity }
            }
            do {
                return try await base.send(next).preceded(by: report)
            } catch let error as TransportError {
                report.append(error.report)
                var whole = error
                whole.report = report
                guard error.tellsOfNoNetwork, exchange.body.isUnspent else { throw whole }
                switch provider.connectivity.status {
                case .offline: break
                case .unknown: throw whole
                case .online:
                    let isLost = await provider.noticesLoss(within: exchange.durationLeft(since: begun))
                    guard isLost || Task.isCancelled, exchange.body.isUnspent else { throw whole }
                    tried = nil
                }
                failure = whole
            }
        }
    }

    /// Has no connection of another network used. The session's ``ConnectivityListener`` may hear of the change later than
    /// the exchange that waited for it.
    private func leaveOtherNetworks(for connectivity: Connectivity) {
        guard connectivity.status == .online else { return }
        // Locked all along, so that no other exchange goes on before the connections are closed.
        lastIdentity.withLock { last in
            if let last, last != connectivity.identity { base.closeIdleConnections() }
            last = connectivity.identity
        }
    }

    /// Waits for a network.
    ///
    /// - Parameters:
    ///   - begun: When the exchange was handed over.
    ///   - failure: What has come of it.
    ///   - tried: The network over which that came, if it was waited for.
    /// - Returns: What it has waited for; nil where nobody will tell.
    private func wait(
        with exchange: Exchange, since begun: ContinuousClock.Instant, after failure: TransportError?,
        differingFrom tried: Connectivity?
    ) async throws -> Connectivity? {
        let outcome = await provider.wait(
            upTo: exchange.durationLeft(since: begun), differingFrom: tried,
            onWaiting: { exchange.observer?.exchangeIsWaitingForConnectivity() }, until: { $0.isOnline })
        var error: TransportError
        switch outcome {
        case _ where Task.isCancelled:
            error = exchange.failure(.cancelled, "cancelled while there was no network")
        case .givenUp:
            error = exchange.failure(
                .timedOut, "no network came before the total timeout of \(totalTimeout.formatted()) s passed")
        case .noMoreNews:
            // Nobody will tell, which is no reason to hold back what has not been tried.
            guard let failure else { return nil }
            throw failure
        case .over(let connectivity): return connectivity
        }
        if let failure {
            error.report = failure.report
            error.underlying = failure
        }
        throw error
    }
}

extension Exchange {
    fileprivate func timeLeft(since begun: ContinuousClock.Instant) -> TimeInterval {
        options.totalTimeout - (ContinuousClock.now - begun) / .seconds(1)
    }

    /// The time left as a wait can take it: no less than none, and not for ever.
    fileprivate func durationLeft(since begun: ContinuousClock.Instant) -> Duration {
        .seconds(max(0, min(timeLeft(since: begun), 1e9)))
    }

    fileprivate func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
        TransportError(code, phase: .queued, url: url, message: message)
    }
}

extension RequestBody {
    /// Whether all of the bytes can still be sent.
    fileprivate var isUnspent: Bool {
        if case .stream(let stream) = self { !stream.isSpent } else { true }
    }
}

extension TransportError {
    /// Whether the exchange failed before anything was sent, in a way in which it fails without a network: no way to the
    /// host, or none to who knows its address.
    fileprivate var tellsOfNoNetwork: Bool {
        switch phase {
        case .queued, .resolving, .connecting: code == .notConnected || code == .cannotFindHost
        default: false
        }
    }
}
