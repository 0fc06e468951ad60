/// A summary of an exchange's connection and traffic in words.
package struct ConnectionSummary {
    /// The peer, the local address and what was negotiated; nil if the peer is unknown.
    package let connection: String?
    /// The bytes in both directions; nil if there are none.
    package let traffic: String?

    /// Creates a summary.
    ///
    /// - Parameter isSecure: Whether the exchange uses TLS; nil if that is unknown.
    package init(_ metrics: TransactionMetrics, isSecure: Bool?) {
        connection = metrics.remoteAddress.map { address in
            var facts = [Self.place(address, metrics.remotePort)]
            if let local = metrics.localAddress { facts.append("from \(Self.place(local, metrics.localPort))") }
            facts.append(metrics.isReusedConnection ? "used before" : "new")
            if metrics.isProxyConnection { facts.append("through a proxy") }
            if let name = metrics.networkProtocolName { facts.append(name) }
            if let security = Self.security(metrics, isSecure: isSecure) { facts.append(security) }
            return TerminalText.line(facts.joined(separator: ", "))
        }
        let sent = metrics.countOfRequestHeaderBytesSent + metrics.countOfRequestBodyBytesSent
        let received = metrics.countOfResponseHeaderBytesReceived + metrics.travelledBodyBytes
        traffic =
            sent + received > 0 ? "\(Quantity.bytes(sent)) sent, \(Quantity.bytes(received)) received" : nil
    }

    /// The available parts, one on each line.
    package var lines: [String] { [connection.map { "Connection: \($0)" }, traffic].compactMap { $0 } }

    private static func place(_ address: String, _ port: Int?) -> String {
        port.map { HostName.authority(address, port: $0) } ?? address
    }

    private static func security(_ metrics: TransactionMetrics, isSecure: Bool?) -> String? {
        let known = [metrics.tlsProtocolVersion, metrics.tlsCipherSuite].compactMap { $0 }
        guard isSecure != false, !known.isEmpty else { return isSecure.map { $0 ? "TLS" : "no TLS" } }
        return known.joined(separator: " ")
    }
}

extension TransactionMetrics {
    /// The number of body bytes received on the wire, or after decoding if the transport doesn't report the former. Zero for
    /// a cached response.
    package var travelledBodyBytes: Int64 {
        if isFromCache { return 0 }
        return countOfResponseBodyBytesReceived > 0
            ? countOfResponseBodyBytesReceived : countOfResponseBodyBytesAfterDecoding
    }
}
