public import AfarTransport
import Foundation

/// A transport that injects faults into the exchanges of another transport, with given probabilities.
///
/// ```swift
/// let flaky = FaultInjectingTransport(
///     mock, seed: 7,
///     faults: [
///         .delay(.milliseconds(500), probability: 0.05), .response(.status(503), probability: 0.1),
///         .interruption(after: 100, probability: 0.01),
///     ])
/// ```
///
/// The seed and the number of an exchange determine its faults. If a test sends its requests in a fixed order, each run has the same faults.
/// WebSockets and raw connections have no faults.
public final class FaultInjectingTransport: Transport {
    /// A fault and its probability.
    public struct Fault: Sendable {
        fileprivate enum Kind {
            case delay(Duration)
            case response(MockResponse)
            case reset
            case interruption(Int)
        }

        fileprivate let kind: Kind
        fileprivate let probability: Double

        /// Delays a request before it is sent. The session's ``ExchangeOptions/timeSource`` measures the delay. Another fault can follow.
        public static func delay(_ delay: Duration, probability: Double) -> Fault {
            Fault(kind: .delay(delay), probability: probability)
        }

        /// Responds without sending the request. With ``MockResponse/failure(_:)``, the exchange fails.
        public static func response(_ response: MockResponse, probability: Double) -> Fault {
            Fault(kind: .response(response), probability: probability)
        }

        /// Sends the request and loses the response, with the error ``TransportError/Code-swift.struct/connectionLost``.
        public static func reset(probability: Double) -> Fault { Fault(kind: .reset, probability: probability) }

        /// Interrupts the response after some bytes of its body, with the error
        /// ``TransportError/Code-swift.struct/bodyIncomplete``. The whole body is first collected in memory.
        public static func interruption(after count: Int, probability: Double) -> Fault {
            Fault(kind: .interruption(count), probability: probability)
        }
    }

    private let base: any Transport
    private let seed: UInt64
    private let faults: [Fault]
    private let state: Locked<(exchangeCount: UInt64, counts: [Int])>

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the requests.
    ///   - seed: Determines which exchanges have faults.
    ///   - faults: The possible faults. They are drawn in this order, each with its own probability from 0 to 1. After a fault that
    ///     isn't a delay, no further fault is drawn.
    public init(_ base: any Transport, seed: UInt64, faults: [Fault]) {
        (self.base, self.seed, self.faults) = (base, seed, faults)
        state = Locked((0, Array(repeating: 0, count: faults.count)))
    }

    /// The number of times that each fault was injected, in the order of the faults.
    public var counts: [Int] { state.withLock { $0.counts } }

    /// The capabilities of the other transport.
    public var capabilities: TransportCapabilities { base.capabilities }

    /// Performs an exchange, and injects its faults.
    ///
    /// - Throws: A ``TransportError``.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        if case .connection = exchange.delivery { return try await base.send(exchange) }
        for kind in drawFaults() {
            switch kind {
            case .delay(let delay):
                do { try await exchange.options.timeSource.sleep(for: delay) } catch {
                    throw failure(.cancelled, .queued, "the exchange was cancelled", of: exchange)
                }
            case .response(let response):
                return try await MockTransport(capabilities: capabilities) { _ in response }.send(exchange)
            case .reset:
                _ = try await base.send(exchange.collected)
                throw failure(
                    .connectionLost, .awaitingResponse, "an injected fault reset the connection", of: exchange)
            case .interruption(let count):
                let response = try await base.send(exchange.collected)
                var body = Data()
                if case .data(let data) = response.body { body = data }
                let cut = MockResponse(status: response.head.status, fields: response.head.fields, body: body)
                    .interrupted(after: count)
                var unsent = exchange
                unsent.body = .none
                return try await MockTransport(capabilities: capabilities) { _ in cut }.send(unsent)
            }
        }
        return try await base.send(exchange)
    }

    /// Closes the unused connections of the other transport.
    public func closeIdleConnections() { base.closeIdleConnections() }

    /// The connections of the other transport.
    public var connectionStatistics: ConnectionStatistics? { get async { await base.connectionStatistics } }

    private func drawFaults() -> [Fault.Kind] {
        state.withLock { state in
            var random = RandomSequence(state: seed &+ state.exchangeCount &* 0xD1B5_4A32_D192_ED03)
            state.exchangeCount += 1
            var kinds: [Fault.Kind] = []
            for (index, fault) in faults.enumerated() where random.next() < fault.probability {
                kinds.append(fault.kind)
                state.counts[index] += 1
                if case .delay = fault.kind { continue }
                break
            }
            return kinds
        }
    }

    private func failure(
        _ code: TransportError.Code, _ phase: TransportError.Phase, _ message: String, of exchange: Exchange
    ) -> TransportError {
        TransportError(code, phase: phase, url: exchange.url, message: message)
    }
}

extension Exchange {
    /// A copy of the exchange that collects the response in memory. It has no observer and no `decide` closure.
    fileprivate var collected: Exchange {
        var exchange = self
        (exchange.delivery, exchange.decide, exchange.observer) = (.collect(), nil, nil)
        return exchange
    }
}

/// Random numbers that a seed determines (SplitMix64).
private struct RandomSequence {
    var state: UInt64

    /// Returns a number in 0..<1.
    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((bits ^ (bits >> 31)) >> 11) * 0x1p-53
    }
}
