/// A type that sends an HTTP request to a server and returns its response.
///
/// A transport is the lowest layer of a session, directly above the sockets (or above nothing, in a test). It performs **one
/// exchange**: one request, one final response. It doesn't follow redirects, answer authentication challenges on its own, or keep
/// cookies or a cache. The layers above the transports implement those once, so that all transports behave alike.
///
/// Write a transport to replace how bytes are sent. Wrap another transport to observe or change every exchange:
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
/// If a change needs information from the session, such as a token, write a ``RequestInterceptor`` instead.
public protocol Transport: Sendable {
    /// The features of this transport.
    ///
    /// A request that requires other features fails with a typed error before a byte is sent.
    var capabilities: TransportCapabilities { get }

    /// Performs one exchange.
    ///
    /// This method can be called from any task, and concurrently. Cancelling the calling task ends the exchange promptly, in any
    /// phase, with ``TransportError/Code-swift.struct/cancelled``.
    ///
    /// - Parameter exchange: The request, the destination of the response's body, and the settings. It retains the request, so
    ///   don't keep it after the exchange has ended.
    /// - Returns: The final response. With ``ResponseDelivery/collect(limit:)`` and ``ResponseDelivery/file(descriptor:limit:)``,
    ///   the body is complete. With ``ResponseDelivery/stream(highWaterMark:)`` and ``ResponseDelivery/connection``, the response
    ///   is returned as soon as its head has arrived.
    /// - Throws: A ``TransportError``. Any other error is treated as one with an unknown code.
    func send(_ exchange: Exchange) async throws -> TransportResponse

    /// Closes connections that no exchange uses. Running exchanges continue. The default implementation does nothing.
    func closeIdleConnections()

    /// The current connections; nil, which is the default, if the transport doesn't track them. A transport that wraps another
    /// forwards this property and ``closeIdleConnections()``.
    var connectionStatistics: ConnectionStatistics? { get async }
}

extension Transport {
    /// The default implementation leaves all connections open.
    public func closeIdleConnections() {}

    /// The default implementation returns nil.
    public var connectionStatistics: ConnectionStatistics? { get async { nil } }
}
