import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Where the responses of a request go, in all of its attempts. There is one type for each kind of request.
///
/// The request's pipeline calls one method at a time; ``decide(on:for:)`` is called wherever the transport reads the
/// network.
protocol ResponseSink: Sendable {
    // MARK: Sending

    /// Drops what the last attempt received. Another one begins.
    func begin()

    /// Adds what this kind of response requires to a `URLRequest` before its adapters.
    func prepare(_ urlRequest: inout URLRequest, of request: Request) throws

    /// The `URLRequest` with a URL of HTTP's. The default returns it as it is.
    func httpForm(of urlRequest: URLRequest) -> URLRequest

    /// Opens what the next response is received into.
    func openDelivery(for request: Request) throws -> ResponseDelivery

    /// Adds what this kind of response requires to an exchange.
    func prepare(_ exchange: inout Exchange) throws

    /// The stages that the exchange passes on its way to the transport, outermost first. The default is those of the stack.
    func stages(of stack: TransportStack) -> [any ExchangeStage]

    // MARK: Receiving

    /// Decides on a response whose head has arrived. The default takes it.
    func decide(on head: ResponseHead, for request: Request) -> HeadDecision

    /// Uses a streamed body or a connection until it ends. An error fails the attempt.
    func read(_ response: TransportResponse, for request: Request) async throws

    /// Receives a response that has ended.
    func receive(_ response: TransportResponse, for request: Request) throws

    /// Receives what arrived before the exchange failed.
    ///
    /// - Returns: The error for the handlers. The default is the error that corresponds to the transport's.
    func receive(_ error: TransportError, for request: Request) -> AFError

    /// Validates what was received, and keeps it.
    nonisolated(nonsending) func commit(for request: Request) async throws(AFError)

    /// Drops what was received, since the attempt has failed.
    func abandon(for request: Request)

    // MARK: The end

    /// Whether retriers are asked about a failure. The default is true.
    var mayBeRetried: Bool { get }

    /// The error that the end is reported with.
    func completionError(for error: AFError?) -> AFError?

    /// Releases the closures that will not be called any more. May be called more than once.
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
    /// The error of an exchange that failed.
    init(_ error: TransportError) { self = error.trustFailure ?? .sessionTaskFailed(error: error.urlError) }
}
