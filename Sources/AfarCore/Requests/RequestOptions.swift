public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What is otherwise for one request than for its session. What is nil is as the session has it.
public struct RequestOptions: Sendable {
    /// How long the request may take in all, in seconds, from its start: all attempts, the delays between them, interceptors and
    /// suspension included. When it has passed, the request ends with a `URLError` of the code `timedOut`.
    public var deadline: TimeInterval?
    /// How long each attempt may take in all, in seconds, like `timeoutIntervalForResource` of a session.
    public var totalTimeout: TimeInterval?
    /// How long finding the host, connecting and securing the connection may take together, in seconds.
    public var connectTimeout: TimeInterval?
    /// How long nothing may arrive or leave, in seconds. It comes before the `timeoutInterval` of a `URLRequest`.
    public var idleTimeout: TimeInterval?
    /// The version of HTTP.
    public var httpVersion: ExchangeOptions.HTTPVersion?
    /// Whether a compressed body is decoded, like ``SessionConfiguration/decodesContent``.
    public var decodesContent: Bool?
    /// How the request reaches its host: through a proxy, over a Unix socket, from an interface.
    public var network: NetworkSettings?

    /// Makes options that are those of the session.
    public init() {}

    func apply(to options: inout ExchangeOptions) {
        if let totalTimeout { options.totalTimeout = totalTimeout }
        if let connectTimeout { options.connectTimeout = connectTimeout }
        if let idleTimeout { options.idleTimeout = idleTimeout }
        if let httpVersion { options.httpVersion = httpVersion }
        if let decodesContent { options.decodesContent = decodesContent }
        if let network { options.network = network }
    }

    /// Options that are kept by reference, since most requests have none.
    final class Box: Sendable {
        let options: RequestOptions

        init(_ options: RequestOptions) { self.options = options }
    }
}
