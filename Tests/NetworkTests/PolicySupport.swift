import Afar
import AfarTransport
import Foundation
import HTTPTypes
import TestServers
import Testing

/// A policy that a closure implements. It records the connections.
final class RecordingPolicy: ConnectionPolicy {
    private let log = Locked<[ConnectionCandidate]>([])
    private let reason: @Sendable (ConnectionCandidate) -> String?

    /// - Parameter reason: Returns why a connection isn't allowed; nil to allow it.
    init(refusing reason: @escaping @Sendable (ConnectionCandidate) -> String?) { self.reason = reason }

    static func refusingAll() -> RecordingPolicy { RecordingPolicy { _ in "it is a test" } }
    static func allowingAll() -> RecordingPolicy { RecordingPolicy { _ in nil } }

    var candidates: [ConnectionCandidate] { log.withLock { $0 } }

    func decide(on candidate: ConnectionCandidate) -> ConnectionDecision {
        log.withLock { $0.append(candidate) }
        return reason(candidate).map { .refuse(reason: $0) } ?? .allow
    }
}

extension TestedTransport {
    /// Creates a session over one transport alone, with a policy and network settings.
    func session(
        _ policy: RecordingPolicy?, _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) throws -> Session {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = try TestCertificates.shared.get().authority
        configuration.timeoutIntervalForRequest = 20
        configuration.connectionPolicy = policy
        change(&configuration)
        return Session(configuration: configuration, transport: makeTransport(configuration))
    }

    private func makeTransport(_ configuration: SessionConfiguration) -> any Transport {
        switch self {
        case .curl: CurlTransport(configuration: .init(configuration))
        case .http: HTTPTransport(configuration: .init(configuration))
        }
    }
}

extension Session {
    /// Sends a request, and returns its status and whether it used a kept connection.
    func outcome(of url: URL, _ policy: RecordingPolicy? = nil) async throws -> (status: Int?, isReused: Bool?) {
        let request = request(url).options { if let policy { $0.connectionPolicy = policy } }
        let response = await request.serializingString().response
        if let error = response.error { throw error }
        return (response.response?.statusCode, response.metrics?.transactionMetrics.last?.isReusedConnection)
    }

    /// Sends a request that the policy must refuse, and returns its error.
    @discardableResult
    func refusal(
        of url: any URLConvertible, sourceLocation: SourceLocation = #_sourceLocation,
        _ options: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> TransportError {
        let response = await request(url).options(options).serializingString().response
        let error = try #require(response.error?.transportError, "\(response)", sourceLocation: sourceLocation)
        #expect(error.code == .refusedByPolicy, "\(error)", sourceLocation: sourceLocation)
        return error
    }
}
