public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Options of one request that override its session's configuration. Nil uses the session's value.
public struct RequestOptions: Sendable {
    /// The maximum duration of the request from its start, in seconds. It includes all attempts, the delays between them,
    /// interceptors and suspension. After the deadline, the request fails with a `URLError` with the code `timedOut`.
    public var deadline: TimeInterval?
    /// The maximum duration of each attempt, in seconds, like a session's `timeoutIntervalForResource`.
    public var totalTimeout: TimeInterval?
    /// The maximum time to resolve the host, connect and complete the TLS handshake together, in seconds.
    public var connectTimeout: TimeInterval?
    /// How long the request can go without sending or receiving data, in seconds. It takes precedence over the
    /// `timeoutInterval` of a `URLRequest`.
    public var idleTimeout: TimeInterval?
    /// The version of HTTP.
    public var httpVersion: ExchangeOptions.HTTPVersion?
    /// A Boolean value that indicates whether a compressed body is decoded, like ``SessionConfiguration/decodesContent``.
    public var decodesContent: Bool?
    /// How the request reaches its host: through a proxy, over a Unix domain socket, or from a specific interface.
    public var network: NetworkSettings?

    /// Creates options that override nothing.
    public init() {}

    func apply(to options: inout ExchangeOptions) {
        if let totalTimeout { options.totalTimeout = totalTimeout }
        if let connectTimeout { options.connectTimeout = connectTimeout }
        if let idleTimeout { options.idleTimeout = idleTimeout }
        if let httpVersion { options.httpVersion = httpVersion }
        if let decodesContent { options.decodesContent = decodesContent }
        if let network { options.network = network }
    }

    /// Stores options by reference to keep requests small, because most have none.
    final class Box: Sendable {
        let options: RequestOptions

        init(_ options: RequestOptions) { self.options = options }
    }
}
