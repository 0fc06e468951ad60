/// Revalidates stored responses in the background, after they were used for requests.
package final class CacheRevalidation: Sendable {
    private let stages: [any ExchangeStage]
    private let sender: ExchangeSender
    /// The identities of the requests that are in progress.
    private let running = Locked<Set<String>>([])

    /// - Parameter stages: The stages between the cache and the transport.
    package init(through stages: [any ExchangeStage], over sender: ExchangeSender) {
        self.stages = stages
        self.sender = sender
    }

    /// Repeats the request of a hop, unless an identical request is in progress.
    func start(_ identity: String, _ hop: Hop, _ cache: CacheStage) {
        guard running.withLock({ $0.insert(identity).inserted }) else { return }
        var exchange = Exchange(
            request: hop.exchange.request, delivery: .collect(limit: Int64(CacheStage.longestBody)),
            options: hop.exchange.options)
        exchange.context = hop.exchange.context
        exchange.policies.cache = .revalidate
        let stages: [any ExchangeStage] = [cache] + stages
        let driver = HopDriver(Hop(exchange, hasLeftOrigin: hop.hasLeftOrigin), through: stages, over: sender) { _ in
            (.take(), asking: nil)
        }
        Task(executorPreference: QueueExecutor.global) { [self] in
            await withTaskGroup(of: Void.self) { tasks in
                _ = try? await driver.response { work in tasks.addTask(operation: work) }
                running.withLock { _ = $0.remove(identity) }
                tasks.cancelAll()
            }
        }
    }
}
