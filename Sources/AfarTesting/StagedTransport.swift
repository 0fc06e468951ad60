package import AfarCore

/// A transport with stages before it, for tests of these: what a request of a session has as a matter of course.
package struct StagedTransport: Transport {
    private let base: any Transport
    private let stages: [any ExchangeStage]

    /// - Parameter stages: Outermost first.
    package init(_ base: any Transport, _ stages: any ExchangeStage...) {
        self.base = base
        self.stages = stages
    }

    package var capabilities: TransportCapabilities { base.capabilities }

    package func send(_ exchange: Exchange) async throws -> TransportResponse {
        let driver = HopDriver(Hop(exchange), through: stages, over: ExchangeSender(base)) { head in
            (exchange.headArrived(head), nil)
        }
        return try await withThrowingTaskGroup(of: Void.self) { running in
            defer { running.cancelAll() }
            return try await withTaskCancellationHandler {
                try await driver.response { work in running.addTask(operation: work) }
            } onCancel: {
                driver.cancel()
            }
        }
    }

    package func closeIdleConnections() { base.closeIdleConnections() }
    package var connectionStatistics: ConnectionStatistics? { get async { await base.connectionStatistics } }
}
