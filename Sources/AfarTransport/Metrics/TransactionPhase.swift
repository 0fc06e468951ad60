import Foundation

/// One of the consecutive phases of a request and its response over the network, with its time.
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
        /// Seconds since the request began.
        case measured(ClosedRange<Double>)
        /// Why there is none.
        case none(String)
    }

    package var name: Name
    package var time: Time
}

extension TransactionMetrics {
    /// From the beginning to the end, or to the last moment known, in seconds.
    package var duration: Double { lastMoment.map { seconds(to: $0) } ?? 0 }

    /// The phases in order.
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
                // A peer and no beginning of TLS: libcurl tells the two apart only when both went well.
                phases.append(TransactionPhase(name: name, time: .none("not agreed on, its time is in Connect")))
            } else {
                phases.append(phase(name, start, end, isMeasured: isMeasured))
            }
        }
        return phases + [
            phase(.awaitingResponse, sending, responseStartDate), phase(.body, responseStartDate, responseEndDate),
        ]
    }

    /// A phase that has begun and not ended lasts until the end of all.
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
