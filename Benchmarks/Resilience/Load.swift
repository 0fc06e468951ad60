import Afar
import AfarResilience
import AfarTestServer
import AfarTransport
import Foundation

/// A server whose behavior changes during a run.
final class FlakyServer: Sendable {
    enum Mode { case healthy, slowAtTimes, out }

    private struct State {
        var mode = Mode.healthy
        var random = SystemRandomNumberGenerator()
        var arrivals: [Double] = []
    }

    let server: TestServer
    private let state = Locked(State())

    private init(_ server: TestServer) { self.server = server }

    static func start() async throws -> FlakyServer {
        let flaky = FlakyServer(try await TestServer.start())
        flaky.server.route("/flaky") { [weak flaky] _ in flaky?.respond() ?? .text("", status: 500) }
        return flaky
    }

    func stop() async { await server.stop() }

    var mode: Mode {
        get { state.withLock { $0.mode } }
        set { state.withLock { $0.mode = newValue } }
    }

    /// Returns the times of the requests since the last call.
    func takeArrivals() -> [Double] { state.withLock { Swift.exchange(&$0.arrivals, with: []) } }

    private func respond() -> ServerResponse {
        let (mode, isSlow) = state.withLock { state in
            state.arrivals.append(.now)
            return (state.mode, Int.random(in: 0..<20, using: &state.random) == 0)
        }
        var response = ServerResponse.text("ok", status: mode == .out ? 503 : 200)
        if mode == .slowAtTimes, isSlow { response.delay = 0.5 }
        return response
    }
}

/// Sends requests at a constant rate, regardless of the responses.
final class Load: Sendable {
    struct Call {
        let start: Double
        let end: Double
        let isSuccess: Bool
    }

    static let rate = 200

    private let session: Session
    private let server: FlakyServer
    private let seconds: Double
    private let results = Locked<(calls: [Call], arrivals: [Double])>(([], []))

    init(_ resilience: Resilience, _ server: FlakyServer, seconds: Double) {
        var configuration = SessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 100
        let transport = Session.platformTransport(completing: &configuration)
        session = resilience.makeSession(configuration: configuration, transport: transport)
        (self.server, self.seconds) = (server, seconds)
    }

    var calls: [Call] { results.withLock { $0.calls } }
    /// The times at which the server received requests.
    var arrivals: [Double] { results.withLock { $0.arrivals } }

    func mark() -> Double { .now }

    func run() async throws {
        // Opens connections.
        await withTaskGroup(of: Void.self) { group in for _ in 0..<20 { group.addTask { _ = await self.call() } } }
        _ = server.takeArrivals()
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Call.self) { group in
            for index in 0..<Int(seconds * Double(Self.rate)) {
                try await Task.sleep(until: start + .seconds(Double(index) / Double(Self.rate)))
                group.addTask { await self.call() }
            }
            let calls = try await group.reduce(into: []) { $0.append($1) }
            results.withLock { $0.calls = calls }
        }
        let arrivals = server.takeArrivals()
        results.withLock { $0.arrivals = arrivals }
    }

    private func call() async -> Call {
        let start = Double.now
        let response = await session.request(server.server.url("/flaky")).validate().serializingString().response
        return Call(start: start, end: .now, isSuccess: response.error == nil)
    }
}

extension Double {
    private static let start = ContinuousClock.now

    /// The time since the first use, in seconds.
    static var now: Double { start.duration(to: .now) / .seconds(1) }
}

/// State that is protected by a lock.
final class Locked<State>: @unchecked Sendable {
    // Sendable because the state is only accessed while the lock is held.
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    func withLock<Value>(_ body: (inout State) -> Value) -> Value { lock.withLock { body(&state) } }
}
