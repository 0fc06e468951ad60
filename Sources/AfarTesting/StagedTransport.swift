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
        let outcome = Deferred<Result<TransportResponse, any Error>>()
        let tasks = Locked((isCancelled: false, running: [Task<Void, Never>]()))
        let driver = HopDriver(Hop(exchange), through: stages, over: ExchangeSender(base)) { head in
            (exchange.headArrived(head), nil)
        }
        @Sendable func take(_ event: HopDriver.Event) {
            switch event {
            case .ended(let result): outcome.fulfil(result)
            case .waits(let work):
                let task = Task(operation: work)
                let isCancelled = tasks.withLock { tasks in
                    tasks.running.append(task)
                    return tasks.isCancelled
                }
                if isCancelled { task.cancel() }
                driver.next(take)
            }
        }
        return try await withTaskCancellationHandler {
            driver.start(take)
            return try await outcome.value.get()
        } onCancel: {
            driver.cancel()
            let running = tasks.withLock { tasks in
                tasks.isCancelled = true
                return tasks.running
            }
            for task in running { task.cancel() }
        }
    }

    package func closeIdleConnections() { base.closeIdleConnections() }
    package var connectionStatistics: ConnectionStatistics? { get async { await base.connectionStatistics } }
}
