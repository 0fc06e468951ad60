public import Foundation

/// How one request and its response went over the network. A moment that did not happen, or was not measured, is nil.
public struct TransactionMetrics: Sendable, Hashable {
    /// When the transport began.
    public var fetchStartDate: Date?
    /// When the look-up of the host's name began; nil on a connection that was there already, as are the next five.
    public var domainLookupStartDate: Date?
    /// When the host's name was found.
    public var domainLookupEndDate: Date?
    /// When opening the connection began.
    public var connectStartDate: Date?
    /// When the TLS handshake began; nil without TLS.
    public var secureConnectionStartDate: Date?
    /// When the TLS handshake was complete; nil without TLS.
    public var secureConnectionEndDate: Date?
    /// When the connection could be used.
    public var connectEndDate: Date?
    /// When the request began to be sent.
    public var requestStartDate: Date?
    /// When the last byte of the request, body included, was handed to the operating system.
    public var requestEndDate: Date?
    /// When the first byte of the response arrived.
    public var responseStartDate: Date?
    /// When the last byte of the response arrived, or the exchange failed.
    public var responseEndDate: Date?

    /// The protocol, "http/1.1" say, as named for ALPN (RFC 7301).
    public var networkProtocolName: String?
    /// Whether a connection was used that earlier requests had opened.
    public var isReusedConnection = false
    /// How often the transport sent the request again by itself: because a kept connection had closed before the answer
    /// (RFC 9112, section 9.3.1), which only idempotent requests are, or without its `Expect` after a 417 (RFC 9110, section
    /// 15.5.18).
    public var resendCount = 0
    /// Whether the response was kept on this side, and nothing went over the network.
    public var isFromCache = false
    /// Whether the connection went through a proxy.
    public var isProxyConnection = false
    /// This machine's address.
    public var localAddress: String?
    /// This machine's port.
    public var localPort: Int?
    /// The peer's address.
    public var remoteAddress: String?
    /// The peer's port.
    public var remotePort: Int?
    /// The negotiated TLS version, "TLSv1.3" say; nil without TLS or when the transport cannot tell.
    public var tlsProtocolVersion: String?
    /// The number of the negotiated TLS version, 0x0304 for TLS 1.3 (RFC 8446, section 4.1.2); nil as the name is.
    package var tlsProtocolNumber: UInt16?
    /// The negotiated cipher suite, "TLS_AES_256_GCM_SHA384" say; nil without TLS or when the transport cannot tell.
    public var tlsCipherSuite: String?
    /// The number of the negotiated cipher suite in IANA's registry; nil as the name is.
    package var tlsCipherSuiteNumber: UInt16?

    /// Bytes of the request's head on the wire.
    public var countOfRequestHeaderBytesSent: Int64 = 0
    /// Bytes of the request's body on the wire.
    public var countOfRequestBodyBytesSent: Int64 = 0
    /// Bytes of the request's body as they were given to the transport.
    public var countOfRequestBodyBytesBeforeEncoding: Int64 = 0
    /// Bytes of the response's heads on the wire.
    public var countOfResponseHeaderBytesReceived: Int64 = 0
    /// Bytes of the response's body on the wire, before decoding.
    public var countOfResponseBodyBytesReceived: Int64 = 0
    /// Bytes of the response's body after decoding.
    public var countOfResponseBodyBytesAfterDecoding: Int64 = 0

    /// What was sent and what came; nil for the last one of an exchange, of which whoever asked for it knows.
    package var heads: TransactionHeads?

    /// Makes empty metrics.
    public init() {}
}

extension TransactionMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The connection, how long each phase took, and the bytes, in one line.
    public var description: String {
        let times = measuredPhases.map { "\($0.name) \(Quantity.milliseconds($0.seconds))" }
        let total = "total \(Quantity.milliseconds(duration))"
        let facts = ConnectionSummary(self, isSecure: nil)
        return [facts.connection, (times + [total]).joined(separator: ", "), facts.traffic]
            .compactMap { $0 }.joined(separator: "; ")
    }

    /// The same as a small table: a line for each phase.
    public var debugDescription: String {
        let rows = measuredPhases + [("Total", duration)]
        let nameWidth = rows.map(\.name.count).max() ?? 0
        let times = rows.map { Quantity.milliseconds($0.seconds) }
        let timeWidth = times.map(\.count).max() ?? 0
        let table = zip(rows, times).map { row, time in
            "  \(row.name)" + String(repeating: " ", count: nameWidth - row.name.count + 2 + timeWidth - time.count)
                + time
        }
        return (ConnectionSummary(self, isSecure: nil).lines + table).joined(separator: "\n")
    }

    private var measuredPhases: [(name: String, seconds: Double)] {
        phases(isSecure: secureConnectionStartDate != nil).compactMap { phase in
            guard case .measured(let time) = phase.time else { return nil }
            return (phase.name.rawValue, time.upperBound - time.lowerBound)
        }
    }
}
