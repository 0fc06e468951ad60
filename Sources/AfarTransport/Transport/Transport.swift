/// What carries one HTTP request to a server and brings its response back.
///
/// A transport is the bottom of a session: below it are sockets (or nothing, in a test), above it everything that makes
/// HTTP pleasant. It performs **one exchange**: one request out, one final response in. It follows no redirects, answers
/// no authentication challenges on its own, keeps no cookies and no cache; those are written once, above the transports,
/// so that every transport behaves alike.
///
/// Write a transport to replace how bytes travel, or, by wrapping another transport, to see or change every exchange:
///
/// ```swift
/// import AfarTransport
/// import HTTPTypes
///
/// struct Stamped: Transport {
///     var base: any Transport
///     var capabilities: TransportCapabilities { base.capabilities }
///
///     func send(_ exchange: Exchange) async throws -> TransportResponse {
///         var exchange = exchange
///         exchange.request.headerFields[.date] = "Sat, 01 Aug 2026 12:00:00 GMT"
///         return try await base.send(exchange)
///     }
/// }
/// ```
///
/// To change a request with knowledge of the session (a token, say), write a ``RequestInterceptor`` instead.
public protocol Transport: Sendable {
    /// What this transport can do.
    ///
    /// A request that requires more fails with a typed error before a byte is sent.
    var capabilities: TransportCapabilities { get }

    /// Performs one exchange.
    ///
    /// It may be called from any task, many times at once. Cancelling the calling task ends the exchange promptly, at
    /// whatever stage it is, with ``TransportError/Code-swift.struct/cancelled``.
    ///
    /// - Parameter exchange: What to send, where the body goes, and the rules for it. It holds the request, so do not keep
    ///   it after the end.
    /// - Returns: The final response. With ``ResponseDelivery/collect(limit:)`` and
    ///   ``ResponseDelivery/file(descriptor:limit:)`` the body is complete; with
    ///   ``ResponseDelivery/stream(highWaterMark:)`` and ``ResponseDelivery/connection`` the response is returned at its head.
    /// - Throws: A ``TransportError``. Any other error is treated as one of unknown code.
    func send(_ exchange: Exchange) async throws -> TransportResponse

    /// Closes connections that no exchange uses; running exchanges go on. The default does nothing.
    func closeIdleConnections()

    /// The connections at this moment; nil if the transport does not know, which is the default. A transport around another
    /// forwards this, as it does ``closeIdleConnections()``.
    var connectionStatistics: ConnectionStatistics? { get async }
}

extension Transport {
    /// The default implementation leaves all connections open.
    public func closeIdleConnections() {}

    /// The default implementation returns nil.
    public var connectionStatistics: ConnectionStatistics? { get async { nil } }
}
