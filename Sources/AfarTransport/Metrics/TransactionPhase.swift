import Foundation

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
                // There is a peer but no TLS start: over CurlTransport, libcurl reports connecting and TLS separately only if both succeeded.
                phases.append(TransactionPhase(name: name, time: .none("not agreed on, its time is in Connect")))
            } else {
                phases.append(phase(name, start, end, isMeasured: isMeasured))
            }
        }
        return phases + [
            phase(.awaitingResponse, sending, responseStartDate), phase(.body, responseStartDate, responseEndDate),
        ]
    }

    /// Returns a phase. A phase that began but did not end lasts until the last known event.
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
