import AfarHTTP1
import AfarTransport
import CLibcurl
import Foundation

extension Transfer {
    /// Whether the response is complete although libcurl reports a failure. An HTTP/2 server can respond before it has read the
    /// whole request body. libcurl before 8.0 then continues to send, and reports `CURLE_HTTP2_STREAM` without a message.
    func isComplete(despite code: CURLcode) -> Bool {
        code == CURLE_HTTP2_STREAM && attempt.isShared && response.head != nil
            && attempt.handle?.errorMessage.isEmpty == true
    }

    /// Throws if the body is incomplete although libcurl reports success.
    func checkBody() throws(Fault) {
        if attempt.isShared, let length = response.parser.declaredLength,
            response.decoder?.encodedByteCount ?? sink.byteCount < length
        {
            throw Fault(.bodyIncomplete, "the stream ended before the body was complete")
        }
        // RFC 9112, section 9.8
        if let ending = attempt.ending, !ending.isAnnounced, response.parser.bodyEndsWithConnection,
            !exchange.options.acceptsBodiesWithoutTLSCloseNotify
        {
            throw Fault(
                .bodyIncomplete,
                "the server closed the TCP connection without a TLS alert (close_notify), so the body may be cut off")
        }
        try response.decoder?.finish()
    }

    /// Returns the result for the caller; nil if a streamed response has already been delivered.
    func result(of code: CURLcode, phase: TransportError.Phase) -> Result<TransportResponse, any Error>? {
        let report = response.pendingResult?.report ?? report
        sink.flush()
        if let head = response.head, isDiscarded {
            return .success(TransportResponse(head: head, body: .data(Data()), report: report))
        }
        if code == CURLE_OK, state.fault == nil, let head = response.head {
            sink.source?.finish(throwing: nil, report: report)
            return sink.complete().map { .success(TransportResponse(head: head, body: $0, report: report)) }
        }
        var error = failure(code, phase: phase, report: report)
        if state.fault == nil, let earlier = response.pendingResult?.failure { error = earlier }
        if response.head != nil, case .data(let data)? = sink.complete() { error.partialBody = data }
        sink.source?.finish(throwing: error, report: report)
        return .failure(error)
    }

    /// How far the transfer has progressed.
    var phase: TransportError.Phase {
        switch state.phase {
        case .queued: .queued
        case .connecting: connectingPhase
        case .connected: feed.map { $0.byteCount < ($0.length ?? .max) } == true ? .sending : .awaitingResponse
        case .receiving, .finished: .receiving
        }
    }

    private var connectingPhase: TransportError.Phase {
        if lookup != .none { return .resolving }
        guard let handle = attempt.handle else { return .queued }
        // libcurl reports the peer's address before the TLS handshake, but the connect time only after it.
        if !plan.isSecure || handle.string(CURLINFO_PRIMARY_IP) == nil { return .connecting }
        return .tlsHandshake
    }

    /// Returns the error of a failed transfer. The transfer's own fault takes precedence over libcurl's code.
    func failure(_ code: CURLcode, phase: TransportError.Phase, report: TransportReport) -> TransportError {
        let handle = attempt.handle
        var error: TransportError
        if let fault = state.fault ?? handshakeFault {
            error = TransportError(fault, phase: phase, url: plan.url)
        } else if let refusal = attempt.refusal, attempt.openedSocket == nil, attempt.socketError == nil {
            error = TransportError(refusal.fault, phase: .connecting, url: plan.url)
        } else if let fault = familyFault(code) {
            error = TransportError(fault, phase: phase, url: plan.url)
        } else if code == CURLE_COULDNT_CONNECT, let socketError = attempt.socketError,
            CurlFailure.isOutOfResources(socketError)
        {
            error = TransportError(
                .outOfResources, phase: phase, url: plan.url, message: "no socket could be opened",
                transportCode: Int(code.rawValue), systemError: socketError)
        } else {
            let systemError = CurlFailure.hasSystemError(code) ? Int32(handle?.long(CURLINFO_OS_ERRNO) ?? 0) : 0
            let isConnected = [.sending, .awaitingResponse, .receiving].contains(phase)
            let facts = CurlFailure(
                code: code, message: handle?.errorMessage ?? "", systemError: systemError,
                verifyResult: plan.isSecure ? handle?.long(CURLINFO_SSL_VERIFYRESULT) ?? 0 : 0,
                isConnected: isConnected, hasHead: response.head != nil)
            let proxyFailure = plan.route?.proxy.flatMap {
                facts.failure(of: $0, answer: handle?.long(CURLINFO_HTTP_CONNECTCODE))
            }
            error = TransportError(
                proxyFailure == nil ? facts.transportCode : .proxyFailed, phase: phase, url: plan.url,
                message: proxyFailure ?? facts.text,
                transportCode: Int(code.rawValue),
                systemError: systemError == 0 || facts.transportCode == .malformedResponse ? nil : systemError)
        }
        if let proxy = plan.route?.proxy, !error.message.contains(proxy.url) {
            error.message += " (through the proxy \(proxy))"
        }
        let refused = error.code == .refusedByPolicy ? attempt.refusal?.address?.numbers : nil
        error.peer =
            refused.map { HostName.authority($0.address, port: $0.port) }
            ?? handle.flatMap { CurlFailure.peer(of: $0) }
        error.report = report
        return error
    }

    /// Returns a fault if the host has no address of the permitted family. In this case, libcurl opens no socket and doesn't
    /// report the reason.
    private func familyFault(_ code: CURLcode) -> Fault? {
        guard let family = plan.route?.addressFamily, family != .any, plan.route?.proxy == nil else { return nil }
        let hasNoAddress = code == CURLE_COULDNT_CONNECT && attempt.openedSocket == nil && attempt.socketError == nil
        return hasNoAddress ? family.noAddress(of: "the host") : nil
    }

    var report: TransportReport {
        TransportReport(
            transactions: [attempt.handle.map { metrics($0) } ?? TransactionMetrics()],
            trailers: response.parser.trailers)
    }

    private func metrics(_ handle: EasyHandle) -> TransactionMetrics {
        var metrics = TransactionMetrics()
        // libcurl's times exclude the time in the queue, and its total time is outdated for an interrupted transfer.
        let ended = Date()
        let begun = attempt.start ?? ended
        func moment(_ info: CURLINFO) -> Date? {
            let microseconds = handle.offset(info)
            return microseconds > 0 ? begun.addingTimeInterval(Double(microseconds) / 1e6) : nil
        }
        metrics.fetchStartDate = started
        metrics.isReusedConnection = state.hasConnected && handle.long(CURLINFO_NUM_CONNECTS) == 0
        metrics.isProxyConnection = plan.route?.proxy != nil
        metrics.resendCount = max(0, sendCount - 1)
        if !metrics.isReusedConnection {
            metrics.domainLookupStartDate = lookupStart ?? begun
            metrics.domainLookupEndDate = moment(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connectStartDate = metrics.domainLookupEndDate
            metrics.secureConnectionEndDate = moment(CURLINFO_APPCONNECT_TIME_T)
            let connected = moment(CURLINFO_CONNECT_TIME_T)
            if plan.isSecure { metrics.secureConnectionStartDate = connected }
            metrics.connectEndDate = plan.isSecure ? metrics.secureConnectionEndDate : connected
        }
        metrics.requestStartDate = moment(CURLINFO_PRETRANSFER_TIME_T)
        metrics.requestEndDate = bodyEnd ?? metrics.requestStartDate
        metrics.responseStartDate = moment(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.responseEndDate = ended
        metrics.networkProtocolName =
            switch handle.long(CURLINFO_HTTP_VERSION) {
            case CURL_HTTP_VERSION_1_0: "http/1.0"
            case CURL_HTTP_VERSION_1_1: "http/1.1"
            case CURL_HTTP_VERSION_2_0: "h2"
            case CURL_HTTP_VERSION_3: "h3"
            default: nil
            }
        metrics.remoteAddress = handle.string(CURLINFO_PRIMARY_IP)
        metrics.localAddress = handle.string(CURLINFO_LOCAL_IP)
        if metrics.remoteAddress != nil { metrics.remotePort = handle.long(CURLINFO_PRIMARY_PORT) }
        if metrics.localAddress != nil { metrics.localPort = handle.long(CURLINFO_LOCAL_PORT) }
        metrics.countOfRequestHeaderBytesSent = Int64(handle.long(CURLINFO_REQUEST_SIZE))
        metrics.countOfResponseHeaderBytesReceived = Int64(handle.long(CURLINFO_HEADER_SIZE))
        metrics.countOfRequestBodyBytesSent = handle.offset(CURLINFO_SIZE_UPLOAD_T)
        metrics.countOfResponseBodyBytesReceived = handle.offset(CURLINFO_SIZE_DOWNLOAD_T)
        metrics.countOfRequestBodyBytesBeforeEncoding = sentBodyByteCount
        metrics.note(attempt.agreement ?? handle.handshake?.undecided?.agreement)
        metrics.countOfResponseBodyBytesAfterDecoding = sink.byteCount
        return metrics
    }
}
