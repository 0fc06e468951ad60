public import Foundation
public import HTTPTypes

/// Metrics of one request and its response. A date is nil if the event did not happen or was not measured.
public struct TransactionMetrics: Sendable, Hashable {
    /// When the transport started the exchange.
    public var fetchStartDate: Date?
    /// When the lookup of the host's name began. This date and the next five are nil on a reused connection.
    public var domainLookupStartDate: Date?
    /// When the lookup of the host's name ended.
    public var domainLookupEndDate: Date?
    /// When the transport began to open the connection.
    public var connectStartDate: Date?
    /// When the TLS handshake began; nil without TLS.
    public var secureConnectionStartDate: Date?
    /// When the TLS handshake was complete; nil without TLS.
    public var secureConnectionEndDate: Date?
    /// When the connection was ready for use.
    public var connectEndDate: Date?
    /// When the transport began to send the request.
    public var requestStartDate: Date?
    /// When the last byte of the request, body included, was handed to the operating system.
    public var requestEndDate: Date?
    /// When the first byte of the response arrived.
    public var responseStartDate: Date?
    /// When the last byte of the response arrived, or the exchange failed.
    public var responseEndDate: Date?

    /// The protocol's ALPN name (RFC 7301), such as "http/1.1".
    public var networkProtocolName: String?
    /// Whether the request used a connection that an earlier request had opened.
    public var isReusedConnection = false
    /// How often the transport resent the request on its own: because a reused connection had closed before the response (RFC
    /// 9112, section 9.3.1; idempotent requests only), or without its `Expect` field after a 417 (RFC 9110, section 15.5.18).
    public var resendCount = 0
    /// Whether the response came from a local cache, without any network traffic.
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
    /// The negotiated TLS version, such as "TLSv1.3"; nil without TLS or if the transport can't determine it.
    public var tlsProtocolVersion: String?
    /// The number of the negotiated TLS version: 0x0304 for TLS 1.3 (RFC 8446, section 4.1.2). Nil under the same conditions as
    /// ``tlsProtocolVersion``.
    package var tlsProtocolNumber: UInt16?
    /// The negotiated cipher suite, such as "TLS_AES_256_GCM_SHA384"; nil without TLS or if the transport can't determine it.
    public var tlsCipherSuite: String?
    /// The number of the negotiated cipher suite in the IANA registry. Nil under the same conditions as ``tlsCipherSuite``.
    package var tlsCipherSuiteNumber: UInt16?

    /// The size of the request's head on the wire, in bytes.
    public var countOfRequestHeaderBytesSent: Int64 = 0
    /// The size of the request's body on the wire, in bytes.
    public var countOfRequestBodyBytesSent: Int64 = 0
    /// The size of the request's body as passed to the transport, in bytes.
    public var countOfRequestBodyBytesBeforeEncoding: Int64 = 0
    /// The size of the response's heads on the wire, in bytes.
    public var countOfResponseHeaderBytesReceived: Int64 = 0
    /// The size of the response's body on the wire, before decoding, in bytes.
    public var countOfResponseBodyBytesReceived: Int64 = 0
    /// The size of the response's body after decoding, in bytes.
    public var countOfResponseBodyBytesAfterDecoding: Int64 = 0

    /// The request that was sent and the response that arrived. Nil for the last transaction of an exchange, whose heads the
    /// caller already has.
    package var heads: TransactionHeads?

    /// The head of the request, without the session's default header fields. The metrics of a request have it for each transaction. Those
    /// that a transport returns don't, because its caller has the head. It can contain credentials; show it through a ``Redaction``.
    public var requestHead: HTTPRequest? { heads?.request }

    /// The head of the final response; nil if none arrived, and where there is no ``requestHead``.
    public var responseHead: ResponseHead? { heads?.response }

    /// Creates empty metrics.
    public init() {}
}

extension TransactionMetrics {
    /// Takes the TLS version and the cipher suite, if there are any.
    package mutating func note(_ agreement: TLSAgreement?) {
        guard let agreement else { return }
        (tlsProtocolVersion, tlsProtocolNumber) = (agreement.version, agreement.versionNumber)
        (tlsCipherSuite, tlsCipherSuiteNumber) = (agreement.cipherSuite, agreement.cipherSuiteNumber)
    }
}

extension TransactionMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The connection, the duration of each phase and the byte counts, on one line.
    public var description: String {
        let times = measuredPhases.map { "\($0.name) \(Quantity.milliseconds($0.seconds))" }
        let total = "total \(Quantity.milliseconds(duration))"
        let facts = ConnectionSummary(self, isSecure: nil)
        return [facts.connection, (times + [total]).joined(separator: ", "), facts.traffic]
            .compactMap { $0 }.joined(separator: "; ")
    }

    /// The same information as a small table, with one line for each phase.
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
