import Afar

/// What is known of the connection that an exchange went over, in words.
struct ConnectionFacts {
    let lines: [String]

    init(_ metrics: TransactionMetrics, isSecure: Bool) {
        var lines: [String] = []
        if let address = metrics.remoteAddress {
            var facts = [Self.place(address, metrics.remotePort)]
            if let local = metrics.localAddress { facts.append("from \(Self.place(local, metrics.localPort))") }
            facts.append(metrics.isReusedConnection ? "used before" : "new")
            if metrics.isProxyConnection { facts.append("through a proxy") }
            if let name = metrics.networkProtocolName { facts.append(name) }
            facts.append(Self.security(metrics, isSecure: isSecure))
            lines.append("Connection: \(facts.joined(separator: ", "))")
        }
        let sent = metrics.requestHeaderBytes + metrics.requestBodyBytes
        let received = metrics.responseHeaderBytes + metrics.travelledBodyBytes
        if sent + received > 0 {
            lines.append("\(Quantity.bytes(sent)) sent, \(Quantity.bytes(received)) received")
        }
        self.lines = lines.map(TerminalText.line)
    }

    private static func place(_ address: String, _ port: Int?) -> String {
        let host = address.contains(":") ? "[\(address)]" : address
        return port.map { "\(host):\($0)" } ?? host
    }

    private static func security(_ metrics: TransactionMetrics, isSecure: Bool) -> String {
        guard isSecure else { return "no TLS" }
        let known = [metrics.tlsProtocolVersion, metrics.tlsCipherSuite].compactMap { $0 }
        return known.isEmpty ? "TLS" : known.joined(separator: " ")
    }
}

extension TransactionMetrics {
    /// The bytes of the response's body as they travelled; as they became, where the transport knows no more.
    var travelledBodyBytes: Int64 { responseBodyBytes > 0 ? responseBodyBytes : responseBodyBytesAfterDecoding }
}
