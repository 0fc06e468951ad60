import AfarHTTP1
import AfarTransport
import Foundation
import HTTPTypes

extension HTTPExchange {
    /// Ends the body and returns the result. The result is ignored if a streamed response was delivered before.
    func result(phase: TransportError.Phase) -> Result<TransportResponse, any Error> {
        sink.flush()
        let report = report
        if let head = sending.responseHead, isDiscarded, state.fault?.code != .cancelled {
            return .success(TransportResponse(head: head, body: .data(Data()), report: report))
        }
        var fault = state.fault ?? .cancelled
        if state.fault == nil, let head = sending.responseHead {
            sink.source?.finish(throwing: nil, report: report)
            do throws(Fault) {
                let body = try takeConnection(head, report) ?? sink.complete() ?? .data(Data())
                return .success(TransportResponse(head: head, body: body, report: report))
            } catch {
                fault = error
            }
        }
        var error = TransportError(fault, phase: phase, url: hop.exchange.url)
        if let proxy = key.route?.proxy, !error.message.contains(proxy.url) {
            error.message += " (through the proxy \(proxy))"
        }
        let peer = lastConnection?.remote ?? lastAttempt?.address?.numbers
        error.peer = peer.map { HostName.authority($0.address, port: $0.port) }
        error.report = report
        if sending.responseHead != nil, case .data(let data)? = sink.complete() { error.partialBody = data }
        sink.source?.finish(throwing: error, report: report)
        return .failure(error)
    }

    /// Returns the connection for use by another protocol; nil if the response doesn't switch protocols.
    private func takeConnection(
        _ head: ResponseHead, _ report: TransportReport
    ) throws(Fault) -> TransportResponse.Body? {
        guard key.purpose == .otherProtocol || key.purpose == .upgrade && head.status == 101, let connection else {
            return nil
        }
        let (socket, unread) = try connection.detach()
        return .connection(
            RawConnection(
                socket, unread: unread, for: hop, report.transactions.last ?? TransactionMetrics(),
                isSecure: key.security != nil, engine.tls, owner: owner))
    }

    var phase: TransportError.Phase {
        switch state.phase {
        case .queued: .queued
        case .connecting: engine.phase(of: self)
        case .connected: sending.output.isSent || sending.requestEnd != 0 ? .awaitingResponse : .sending
        case .receiving, .finished: .receiving
        }
    }

    var report: TransportReport {
        func date(_ time: UInt64) -> Date? {
            time == 0 ? nil : started.addingTimeInterval((Double(time) - Double(startTime)) / 1e9)
        }
        var metrics = TransactionMetrics()
        metrics.fetchStartDate = started
        metrics.isReusedConnection = sending.wasReused
        metrics.resendCount = max(0, sendCount - 1)
        metrics.isProxyConnection = key.route?.proxy != nil
        if !sending.wasReused, let times = lastConnection?.times ?? lastAttempt?.times {
            metrics.domainLookupStartDate = date(times.lookupStart)
            metrics.domainLookupEndDate = date(times.lookupEnd)
            metrics.connectStartDate = metrics.domainLookupEndDate
            // A failed attempt's connection was never ready for use.
            metrics.connectEndDate = lastConnection == nil ? nil : date(times.connectEnd)
            if key.security != nil {
                metrics.secureConnectionStartDate = date(times.secureStart)
                metrics.secureConnectionEndDate = date(times.secureEnd)
                metrics.connectEndDate = metrics.secureConnectionEndDate
            }
        }
        if let connection = lastConnection ?? lastAttempt?.connection {
            (metrics.remoteAddress, metrics.remotePort) = (connection.remote?.address, connection.remote?.port)
            (metrics.localAddress, metrics.localPort) = (connection.local?.address, connection.local?.port)
            metrics.note(connection.tls?.agreement)
        }
        metrics.requestStartDate = date(sending.requestStart)
        metrics.requestEndDate = date(sending.requestEnd)
        metrics.responseStartDate = date(sending.responseStart)
        metrics.responseEndDate = date(MonotonicClock.now)
        metrics.networkProtocolName =
            key.purpose == .otherProtocol
            ? nil
            : sending.responseHead.map {
                switch $0.httpVersion {
                case "HTTP/2": "h2"
                case "HTTP/1.0": "http/1.0"
                default: "http/1.1"
                }
            }
        metrics.countOfRequestHeaderBytesSent = min(sending.output.byteCount, Int64(head.bytes.count))
        metrics.countOfRequestBodyBytesSent = max(0, sending.output.byteCount - Int64(head.bytes.count))
        metrics.countOfRequestBodyBytesBeforeEncoding = sendCount > 0 ? sending.output.bodyByteCount : 0
        metrics.countOfResponseHeaderBytesReceived = Int64(sending.parser.headByteCount)
        metrics.countOfResponseBodyBytesReceived = sending.parser.bodyByteCount
        metrics.countOfResponseBodyBytesAfterDecoding = sink.byteCount
        if let stream = sending.http2 { note(stream, in: &metrics) }
        let trailers = sending.http2?.trailers ?? sending.parser.trailers
        return TransportReport(
            transactions: [metrics], trailers: sending.isResponseComplete ? trailers : HTTPFields())
    }

    /// Adds the byte counts of an HTTP/2 stream. The count for the request's head is its size in HTTP/1.1.
    private func note(_ stream: HTTP2Stream, in metrics: inout TransactionMetrics) {
        let isSent = sendCount > 0
        metrics.countOfRequestHeaderBytesSent = isSent ? Int64(head.bytes.count) : 0
        metrics.countOfRequestBodyBytesSent = sentBodyByteCount
        metrics.countOfRequestBodyBytesBeforeEncoding = sentBodyByteCount
        metrics.countOfResponseHeaderBytesReceived = Int64(sending.responseHead?.byteCount ?? 0)
        metrics.countOfResponseBodyBytesReceived = stream.bodyByteCount
    }
}
