import Afar
import AfarResilience
import AfarTesting

/// The samples of Docs/Resilience.md.
enum ResilienceSamples {
    static func session() async throws -> String {
        var configuration = SessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 60
        let transport = Session.platformTransport(completing: &configuration)

        let resilience = Resilience(deadline: 10, bulkhead: Bulkhead(maximumConcurrent: 50), hedging: Hedging())
        let session = resilience.makeSession(
            configuration: configuration, transport: transport, connectivity: NetworkMonitor.shared)

        let report = try await session.request("https://api.example.com/report").validate().serializingString().value
        return report
    }

    static func plain(_ transport: any Transport) -> Session {
        let resilience = Resilience(deadline: 10, hedging: Hedging())
        let session = resilience.makeSession(transport: transport)
        return session
    }

    static func parts(
        _ configuration: SessionConfiguration, _ resilience: Resilience, _ serverTrustManager: ServerTrustManager,
        _ transport: any Transport
    ) -> Session {
        let session = Session(
            configuration: configuration,
            interceptor: resilience.interceptor,
            serverTrustManager: serverTrustManager,
            stages: [resilience.stage],
            transport: resilience.transport(around: transport))
        return session
    }

    static func budget(_ session: Session) -> DataRequest {
        let resilience = Resilience(retrier: .connectionLostRetryPolicy, retryBudget: .quota)

        let interceptor = resilience.budgeting(RetryPolicy(retryLimit: 5, jitter: .full))
        let request = session.request("https://api.example.com/important", interceptor: interceptor)
        return request
    }

    static func breaker() -> Resilience {
        var breaker = CircuitBreaker()
        breaker.window = .period(.seconds(10))
        breaker.slowCallDuration = .seconds(2)
        breaker.openDuration = .seconds(3)
        let resilience = Resilience(circuitBreaker: breaker)
        return resilience
    }

    static func error(_ session: Session) async {
        let response = await session.request("https://api.example.com/report").validate().serializingString().response
        if let error = response.error?.underlyingError as? CircuitBreakerError {
            print("\(error.key) is down; the next probe is sent at \(error.nextProbe?.description ?? "a later time")")
        }
    }

    static func force(_ resilience: Resilience) {
        resilience.forceCircuitOpen(of: "https://api.example.com")
        resilience.resetCircuit(of: "https://api.example.com")
    }

    static func bulkhead() -> Resilience {
        let resilience = Resilience(
            bulkhead: Bulkhead(maximumConcurrent: 20, maximumWaiting: 200, maximumWait: .seconds(2)))
        return resilience
    }

    static func hedging() -> Resilience {
        let resilience = Resilience(hedging: Hedging(delay: .fixed(.milliseconds(50)), maximumRatio: 0.05))
        return resilience
    }

    static func observation(_ resilience: Resilience) {
        resilience.observe { event in
            if event.kind == .circuitOpened { print("\(event.key) is down") }
        }
        for host in resilience.snapshot where host.circuit != .closed {
            print(host.key, host.circuit, host.waitingCount)
        }
    }

    static func faults() -> Session {
        let mock = MockTransport { _ in .text("ok") }
        let flaky = FaultInjectingTransport(
            mock, seed: 7,
            faults: [
                .delay(.milliseconds(500), probability: 0.05),
                .response(.status(503), probability: 0.1),
                .reset(probability: 0.02),
                .interruption(after: 1, probability: 0.01),
            ])
        let clock = ManualClock()
        var configuration = SessionConfiguration()
        configuration.timeSource = clock.timeSource
        let session = Resilience().makeSession(configuration: configuration, transport: flaky)
        return session
    }
}
