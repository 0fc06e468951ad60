/// What is known of an exchange and its connection, in words.
package struct ConnectionSummary {
    /// The peer, this side, and what both agreed on; nil when the peer is not known.
    package let connection: String?
    /// The bytes in both directions; nil when none are known.
    package let traffic: String?

    /// - Parameter isSecure: Whether TLS was wanted; nil when that is not known.
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

    /// What is known, a line each.
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
    /// The bytes of the response's body as they travelled; as they became, where the transport knows no more.
    package var travelledBodyBytes: Int64 {
        if isFromCache { return 0 }
        return countOfResponseBodyBytesReceived > 0
            ? countOfResponseBodyBytesReceived : countOfResponseBodyBytesAfterDecoding
    }
}
