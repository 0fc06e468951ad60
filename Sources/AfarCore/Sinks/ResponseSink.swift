import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Receives the responses of a request in all of its attempts. Each kind of request has its own type.
///
/// The request's pipeline calls one method at a time. ``decide(on:for:)`` is called wherever the transport reads the network.
protocol ResponseSink: Sendable {
    // MARK: Sending

    /// Discards what the last attempt received, because another one begins.
    func begin()

    /// Adds what this kind of response requires to a `URLRequest` before its adapters run.
    func prepare(_ urlRequest: inout URLRequest, of request: Request) throws

    /// Returns the `URLRequest` with an http or https URL. The default returns it unchanged.
    func httpForm(of urlRequest: URLRequest) -> URLRequest

    /// Prepares the destination of the next response, and returns how it is delivered.
    func openDelivery(for request: Request) throws -> ResponseDelivery

    /// Adds what this kind of response requires to an exchange.
    func prepare(_ exchange: inout Exchange) throws

    /// Returns the stages that the exchange passes on its way to the transport, outermost first. The default returns the
    /// stack's stages.
    func stages(of stack: TransportStack) -> [any ExchangeStage]

    // MARK: Receiving

    /// Decides on a response whose head has arrived. The default accepts it.
    func decide(on head: ResponseHead, for request: Request) -> HeadDecision

    /// Uses a streamed body or a connection until it ends. An error fails the attempt.
    func read(_ response: TransportResponse, for request: Request) async throws

    /// Receives a response that has ended.
    func receive(_ response: TransportResponse, for request: Request) throws

    /// Receives the error of a failed exchange, which can contain a partial body.
    ///
    /// - Returns: The error for the handlers. The default is the error that corresponds to the transport's.
    func receive(_ error: TransportError, for request: Request) -> AFError

    /// Validates what was received, and stores it.
    nonisolated(nonsending) func commit(for request: Request) async throws(AFError)

    /// Discards what was received, because the attempt has failed.
    func abandon(for request: Request)

    // MARK: Completion

    /// Whether retriers are called for a failure. The default is true.
    var mayBeRetried: Bool { get }

    /// Returns the error that the completion reports.
    func completionError(for error: AFError?) -> AFError?

    /// Releases the closures that will not be called again. Can be called more than once.
    func end()
}

extension ResponseSink {
    func begin() {}
    func prepare(_ urlRequest: inout URLRequest, of request: Request) throws {}
    func httpForm(of urlRequest: URLRequest) -> URLRequest { urlRequest }
    func prepare(_ exchange: inout Exchange) throws {}
    func stages(of stack: TransportStack) -> [any ExchangeStage] { stack.stages }
    func decide(on head: ResponseHead, for request: Request) -> HeadDecision { .take() }
    func read(_ response: TransportResponse, for request: Request) async throws {}
    func receive(_ response: TransportResponse, for request: Request) throws {}
    func receive(_ error: TransportError, for request: Request) -> AFError { AFError(error) }
    nonisolated(nonsending) func commit(for request: Request) async throws(AFError) {}
    func abandon(for request: Request) {}
    var mayBeRetried: Bool { true }
    func completionError(for error: AFError?) -> AFError? { error }
    func end() {}
}

extension AFError {
    /// Creates the error for a failed exchange.
    init(_ error: TransportError) { self = error.trustFailure ?? .sessionTaskFailed(error: error.urlError) }
}
