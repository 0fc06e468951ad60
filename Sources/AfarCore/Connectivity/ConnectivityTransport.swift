import Foundation

/// Holds exchanges back while there is no network, over any transport. It stands next to that, so that where a redirect
/// leads is waited for as well.
package struct ConnectivityTransport<Base: Transport>: Transport {
    let base: Base
    let provider: any ConnectivityProvider

    package init(_ base: Base, waitingFor provider: any ConnectivityProvider) {
        self.base = base
        self.provider = provider
    }

    package var capabilities: TransportCapabilities { base.capabilities }

    package func closeIdleConnections() { base.closeIdleConnections() }

    package func send(_ exchange: Exchange) async throws -> TransportResponse {
        guard !exchange.request.staysOnThisMachine else { return try await base.send(exchange) }
        let begun = ContinuousClock.now
        var next = exchange
        var report = TransportReport()
        var failure: TransportError?
        while true {
            if failure != nil || !provider.connectivity.isOnline {
                try await wait(with: exchange, since: begun, after: failure)
                next.options.totalTimeout = exchange.timeLeft(since: begun)
            }
            do {
                return try await base.send(next).preceded(by: report)
            } catch let error as TransportError {
                report.append(error.report)
                var whole = error
                whole.report = report
                guard error.tellsOfNoNetwork, exchange.body.isUnspent, !provider.connectivity.isOnline else {
                    throw whole
                }
                failure = whole
            }
        }
    }

    /// Waits for a network.
    ///
    /// - Parameters:
    ///   - begun: When the exchange was handed over.
    ///   - failure: What has come of it.
    private func wait(
        with exchange: Exchange, since begun: ContinuousClock.Instant, after failure: TransportError?
    ) async throws {
        exchange.observer?.exchangeIsWaitingForConnectivity()
        let limit = Duration.seconds(max(0, min(exchange.timeLeft(since: begun), 1e9)))
        let outcome = await provider.wait(upTo: limit, until: \.isOnline)
        var error: TransportError
        switch outcome {
        case _ where Task.isCancelled:
            error = exchange.failure(.cancelled, "cancelled while there was no network")
        case .givenUp:
            let timeout = exchange.options.totalTimeout.formatted()
            error = exchange.failure(.timedOut, "there was no network for \(timeout) s (total timeout)")
        case .noMoreNews:
            // Nobody will tell, which is no reason to hold back what has not been tried.
            guard let failure else { return }
            throw failure
        case .over: return
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
