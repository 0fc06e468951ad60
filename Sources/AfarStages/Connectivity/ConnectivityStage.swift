import Foundation
import HTTPTypes

/// A stage that holds requests while there is no network. It is the last stage before the transport, so it also holds requests after a
/// redirect.
package final class ConnectivityStage: ExchangeStage {
    private let provider: any ConnectivityProvider
    private let closeIdleConnections: @Sendable () -> Void
    private struct State {
        /// The network of the last request that was sent.
        var lastIdentity: Connectivity.Identity?
        /// Fulfilled when the connections of the previous network are closed; nil if none are being closed.
        var closing: Deferred<Void>?
    }

    private let state = Locked(State())

    /// - Parameter closeIdleConnections: Closes the idle connections of the transport.
    package init(
        waitingFor provider: any ConnectivityProvider, closeIdleConnections: @escaping @Sendable () -> Void
    ) {
        self.provider = provider
        self.closeIdleConnections = closeIdleConnections
    }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        hop.exchange.staysOnThisMachine ? nil : Run(stage: self)
    }

    private final class Run: StageRun {
        private let stage: ConnectivityStage
        private let state = Locked<(failure: TransportError?, tried: Connectivity?)>((nil, nil))

        init(stage: ConnectivityStage) { self.stage = stage }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            let (failure, tried) = state.withLock { $0 }
            guard failure != nil || !stage.isOnline else { return .now(.send) }
            return .wait { [self] in
                do throws(TransportError) {
                    let connectivity = try await stage.wait(with: hop, after: failure, differingFrom: tried)
                    // If the request fails on this network too, the next wait must continue until a different network is
                    // available.
                    state.withLock { $0.tried = connectivity }
                    if let connectivity { await stage.closeConnections(exceptOn: connectivity) }
                    return .send
                } catch {
                    return .fail(error)
                }
            }
        }

        func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction> {
            guard let error = error as? TransportError, error.suggestsNoNetwork, hop.exchange.body.isUnspent else {
                return .now(.fail(error))
            }
            return .wait { [self] in
                switch stage.provider.connectivity.status {
                case .offline: break
                case .unknown: return .fail(error)
                case .online:
                    let isLost = await stage.provider.detectsLoss(within: hop.timeLeft)
                    guard isLost || Task.isCancelled, hop.exchange.body.isUnspent else { return .fail(error) }
                    state.withLock { $0.tried = nil }
                }
                var failure = error
                // The exchange's report already includes the error's report. Don't add it twice.
                failure.report = TransportReport()
                state.withLock { [failure] in $0.failure = failure }
                return .again
            }
        }
    }

    /// Whether a request can be sent without waiting. Records the network that the request uses.
    private var isOnline: Bool {
        let present = provider.connectivity
        let isClosing = state.withLock { state in
            if state.closing == nil, present.status == .online { state.lastIdentity = present.identity }
            return state.closing != nil
        }
        return present.isOnline && !isClosing
    }

    /// Closes the connections of other networks before the request continues. The session's ``ConnectivityListener`` can detect the
    /// change later than this stage. No other request continues until the connections are closed.
    private func closeConnections(exceptOn connectivity: Connectivity) async {
        guard connectivity.status == .online else { return }
        let (otherClosing, ownClosing) = state.withLock { state -> (Deferred<Void>?, Deferred<Void>?) in
            if let closing = state.closing { return (closing, nil) }
            let last = Swift.exchange(&state.lastIdentity, with: connectivity.identity)
            if let last, last != connectivity.identity { state.closing = Deferred() }
            return (nil, state.closing)
        }
        await otherClosing?.value
        guard let ownClosing else { return }
        closeIdleConnections()
        state.withLock { $0.closing = nil }
        ownClosing.fulfill(())
    }

    /// Waits for a network.
    ///
    /// - Parameters:
    ///   - failure: The error of the previous attempt, if any.
    ///   - tried: The network of the previous attempt, if that attempt waited for it.
    /// - Returns: The connectivity that ended the wait; nil if the provider's updates ended.
    private func wait(
        with hop: Hop, after failure: TransportError?, differingFrom tried: Connectivity?
    ) async throws(TransportError) -> Connectivity? {
        let outcome = await provider.wait(
            upTo: hop.timeLeft, differingFrom: tried,
            onWaiting: { hop.exchange.observer?.exchangeIsWaitingForConnectivity() }, until: { $0.isOnline })
        var error: TransportError
        switch outcome {
        case _ where Task.isCancelled:
            error = hop.failure(.cancelled, "the exchange was cancelled while it waited for a network")
        case .abandoned:
            let timeout = hop.exchange.options.totalTimeout.formatted()
            error = hop.failure(.timedOut, "no network was available within the total timeout of \(timeout) s")
        case .noMoreUpdates:
            // Try the request at least once.
            guard let failure else { return nil }
            throw failure
        case .satisfied(let connectivity): return connectivity
        }
        error.underlying = failure
        throw error
    }
}

extension RequestBody {
    /// Whether the complete body can still be sent.
    fileprivate var isUnspent: Bool {
        if case .stream(let stream) = self { !stream.isSpent } else { true }
    }
}

extension TransportError {
    /// Whether the exchange failed before it sent anything, because the host has no route or its address can't be resolved. These
    /// errors are typical without a network.
    fileprivate var suggestsNoNetwork: Bool {
        switch phase {
        case .queued, .resolving, .connecting: code == .notConnected || code == .cannotFindHost
        default: false
        }
    }
}

extension Exchange {
    fileprivate var staysOnThisMachine: Bool {
        options.network.staysOnThisMachine(scheme: request.scheme, authority: request.authority)
    }
}
