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
    /// When the last byte of the request, including its body, was passed to the operating system.
    public var requestEndDate: Date?
    /// When the first byte of the response arrived.
    public var responseStartDate: Date?
    /// When the last byte of the response arrived, or the exchange failed.
    public var responseEndDate: Date?

    /// The protocol's ALPN name (RFC 7301), such as "http/1.1".
    public var networkProtocolName: String?
    /// A Boolean value that indicates whether the request used a connection that was opened for an earlier request.
    public var isReusedConnection = false
    /// The number of times that the transport sent the request again on its own. It sends an idempotent request again if a reused
    /// connection was closed before the response (RFC 9112, section 9.3.1). After a 417, it sends the request again without its
    /// `Expect` field (RFC 9110, section 15.5.18).
    public var resendCount = 0
    /// A Boolean value that indicates whether the response came from a local cache, without any network traffic.
    public var isFromCache = false
    /// A Boolean value that indicates whether the connection went through a proxy.
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

    /// The request that was sent and the response that arrived. Nil for the last transaction of an exchange, because the caller already has
    /// its heads.
    package var heads: TransactionHeads?

    /// The head of the request, without the session's default header fields.
    ///
    /// The metrics of a session's request contain the head of each transaction. In metrics that come directly from a transport,
    /// this property is nil, because the caller already has the head. The head can contain credentials, so use a ``Redaction``
    /// to show it.
    public var requestHead: HTTPRequest? { heads?.request }

    /// The head of the final response; nil if none arrived, or if ``requestHead`` is nil.
    public var responseHead: ResponseHead? { heads?.response }

    /// Creates empty metrics.
    public init() {}
}

extension TransactionMetrics {
    /// Records the negotiated TLS version and cipher suite, if any.
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

    /// The same information as ``description``, as a table with one line for each phase.
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

// MARK: - Heads

package final class TransactionHeads: Sendable, Hashable, CustomReflectable {
    package let request: HTTPRequest
    /// Nil if no response arrived.
    package let response: ResponseHead?

    package init(request: HTTPRequest, response: ResponseHead?) {
        self.request = request
        self.response = response
    }

    /// Empty, because header fields can contain credentials.
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    package static func == (lhs: TransactionHeads, rhs: TransactionHeads) -> Bool {
        lhs.request == rhs.request && lhs.response === rhs.response
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(request) }
}

// MARK: - Phases

/// One of the consecutive phases of a request and its response, with its time.
package struct TransactionPhase: Equatable {
    package enum Name: String, CaseIterable {
        case queued = "Queued"
        case lookup = "DNS"
        case connect = "Connect"
        case tlsHandshake = "TLS"
        case awaitingResponse = "Waiting"
        case body = "Body"
    }

    package enum Time: Equatable {
        /// The beginning and end, in seconds since the request began.
        case measured(ClosedRange<Double>)
        /// The reason why there is no time.
        case none(String)
    }

    package var name: Name
    package var time: Time
}

extension TransactionMetrics {
    /// The time from the beginning to the end, or to the last known event, in seconds.
    package var duration: Double { lastMoment.map { seconds(to: $0) } ?? 0 }

    /// Returns the phases in order.
    package func phases(isSecure: Bool) -> [TransactionPhase] {
        var phases: [TransactionPhase] = []
        let isMeasured = requestStartDate != nil || connectStartDate != nil || domainLookupStartDate != nil
        let sending = requestStartDate ?? (isMeasured ? connectEndDate : fetchStartDate)
        if let begun = domainLookupStartDate ?? connectStartDate ?? requestStartDate, seconds(to: begun) > 0.0005 {
            phases.append(phase(.queued, fetchStartDate, begun))
        }
        let spans: [(TransactionPhase.Name, Date?, Date?)] = [
            (.lookup, domainLookupStartDate, domainLookupEndDate),
            (.connect, connectStartDate, secureConnectionStartDate ?? connectEndDate),
            (.tlsHandshake, secureConnectionStartDate, secureConnectionEndDate),
        ]
        for (name, start, end) in spans {
            if name == .tlsHandshake, !isSecure {
                phases.append(TransactionPhase(name: name, time: .none("none, this is plain HTTP")))
            } else if isReusedConnection {
                phases.append(TransactionPhase(name: name, time: .none("connection reused")))
            } else if name == .tlsHandshake, start == nil, connectStartDate != nil, remoteAddress != nil {
                // libcurl, which CurlTransport uses, reports connecting and TLS separately only if both succeeded.
                phases.append(TransactionPhase(name: name, time: .none("not negotiated, its time is in Connect")))
            } else {
                phases.append(phase(name, start, end, isMeasured: isMeasured))
            }
        }
        return phases + [
            phase(.awaitingResponse, sending, responseStartDate), phase(.body, responseStartDate, responseEndDate),
        ]
    }

    /// Returns a phase. A phase that didn't end lasts until the last known event.
    private func phase(_ name: TransactionPhase.Name, _ start: Date?, _ end: Date?, isMeasured: Bool = true)
        -> TransactionPhase
    {
        guard let start, let end = end ?? lastMoment else {
            return TransactionPhase(name: name, time: .none(isMeasured ? "not reached" : "not measured"))
        }
        let lower = seconds(to: start)
        return TransactionPhase(name: name, time: .measured(lower...max(lower, seconds(to: end))))
    }

    private func seconds(to date: Date) -> Double {
        fetchStartDate.map { max(0, date.timeIntervalSince($0)) } ?? 0
    }

    private var lastMoment: Date? {
        responseEndDate
            ?? [responseStartDate, requestStartDate, connectEndDate, domainLookupEndDate].compactMap { $0 }.max()
    }
}

// MARK: - Summaries

/// A summary of an exchange's connection and traffic in words.
package struct ConnectionSummary {
    /// The peer, the local address and the negotiated protocols; nil if the peer is unknown.
    package let connection: String?
    /// The bytes in both directions; nil if there are none.
    package let traffic: String?

    /// Creates a summary.
    ///
    /// - Parameter isSecure: Whether the exchange uses TLS; nil if that is unknown.
    package init(_ metrics: TransactionMetrics, isSecure: Bool?) {
        connection = metrics.remoteAddress.map { address in
            var facts = [Self.endpoint(address, metrics.remotePort)]
            if let local = metrics.localAddress { facts.append("from \(Self.endpoint(local, metrics.localPort))") }
            facts.append(metrics.isReusedConnection ? "used before" : "new")
            if metrics.isProxyConnection { facts.append("through a proxy") }
            if let name = metrics.networkProtocolName { facts.append(name) }
            if let security = Self.security(metrics, isSecure: isSecure) { facts.append(security) }
            return TerminalText.line(facts.joined(separator: ", "))
        }
        let sent = metrics.countOfRequestHeaderBytesSent + metrics.countOfRequestBodyBytesSent
        let received = metrics.countOfResponseHeaderBytesReceived + metrics.transferredBodyBytes
        traffic =
            sent + received > 0 ? "\(Quantity.bytes(sent)) sent, \(Quantity.bytes(received)) received" : nil
    }

    /// The available parts, one on each line.
    package var lines: [String] { [connection.map { "Connection: \($0)" }, traffic].compactMap { $0 } }

    private static func endpoint(_ address: String, _ port: Int?) -> String {
        port.map { HostName.authority(address, port: $0) } ?? address
    }

    private static func security(_ metrics: TransactionMetrics, isSecure: Bool?) -> String? {
        let known = [metrics.tlsProtocolVersion, metrics.tlsCipherSuite].compactMap { $0 }
        guard isSecure != false, !known.isEmpty else { return isSecure.map { $0 ? "TLS" : "no TLS" } }
        return known.joined(separator: " ")
    }
}

extension TransactionMetrics {
    /// The number of body bytes received on the wire, or after decoding if the transport doesn't report the number on the wire.
    /// Zero for a cached response.
    package var transferredBodyBytes: Int64 {
        if isFromCache { return 0 }
        return countOfResponseBodyBytesReceived > 0
            ? countOfResponseBodyBytesReceived : countOfResponseBodyBytesAfterDecoding
    }
}
