/// A transport that passes each exchange to the first of several transports that has the required features.
///
/// ```swift
/// let transport = FirstCapableTransport([HTTPTransport(), CurlTransport()])
/// let session = Session(transport: transport)
/// ```
///
/// Each of the transports keeps its own connections. An exchange that none of them supports fails with the error of the last one.
public struct FirstCapableTransport: Transport {
    /// The transports, in order of preference.
    public let transports: [any Transport]
    /// The features that any of the transports has, and the content codings that all of them decode.
    public let capabilities: TransportCapabilities

    /// Creates a transport from others, in order of preference. Requests fail if there are none.
    public init(_ transports: [any Transport]) {
        self.transports = transports
        let all = transports.map(\.capabilities)
        capabilities = TransportCapabilities(
            name: all.map(\.name).joined(separator: " or "),
            features: all.reduce(into: []) { $0.formUnion($1.features) },
            contentCodings: all.first?.contentCodings.filter { coding in
                all.allSatisfy { $0.contentCodings.contains(coding) }
            } ?? [])
    }

    /// Performs one exchange over the first transport that supports it.
    ///
    /// - Throws: A ``TransportError``.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        let features = exchange.requiredFeatures
        let capable = transports.first { $0.capabilities.features.isSuperset(of: features) } ?? transports.last
        guard let capable else {
            throw TransportError(
                .unsupportedByTransport, phase: .queued, url: exchange.url,
                message: "there is no transport to choose from")
        }
        return try await capable.send(exchange)
    }

    /// Closes the connections of all transports that no exchange uses.
    public func closeIdleConnections() { for transport in transports { transport.closeIdleConnections() } }

    /// The connections of all transports, added up by host; nil if none of them tracks its connections.
    public var connectionStatistics: ConnectionStatistics? {
        get async {
            var hosts: [ConnectionStatistics.Host]?
            for transport in transports {
                if let statistics = await transport.connectionStatistics { hosts = (hosts ?? []) + statistics.hosts }
            }
            return hosts.map { ConnectionStatistics(hosts: $0) }
        }
    }
}
