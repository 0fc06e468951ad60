import AfarTransport
import CLibcurl
import Foundation

extension Transfer {
    /// How far the transfer has come.
    var failurePhase: TransportError.Phase {
        switch state.phase {
        case .queued: .queued
        case .connecting: connectingPhase
        case .connected: feed.map { $0.byteCount < ($0.length ?? .max) } == true ? .sending : .awaitingResponse
        case .receiving, .finished: .receiving
        }
    }

    private var connectingPhase: TransportError.Phase {
        if lookup.isPending { return .resolving }
        guard let handle else { return .queued }
        // The peer's address is known from when the connection is there; the time of that only when TLS is agreed on.
        if !plan.isSecure || handle.string(CURLINFO_PRIMARY_IP) == nil { return .connecting }
        return .tlsHandshake
    }

    /// The error for a transfer that did not end well. Our own cause comes first, then libcurl's code.
    func failure(_ code: CURLcode, phase: TransportError.Phase, report: TransportReport) -> TransportError {
        let message = handle?.errorMessage ?? ""
        var error: TransportError
        if let fault = state.fault ?? handshakeFault {
            error = TransportError(
                fault.code, phase: phase, url: plan.url, message: fault.message, systemError: fault.systemError,
                underlying: fault.underlying)
        } else if code == CURLE_COULDNT_CONNECT, let socketError, CurlFailure.isOutOfResources(socketError) {
            error = TransportError(
                .outOfResources, phase: phase, url: plan.url, message: "no socket could be opened",
                transportCode: Int(code.rawValue), systemError: socketError)
        } else {
            let systemError = CurlFailure.hasSystemError(code) ? Int32(handle?.long(CURLINFO_OS_ERRNO) ?? 0) : 0
            let facts = CurlFailure(
                code: code, message: message, systemError: systemError,
                verifyResult: plan.isSecure ? handle?.long(CURLINFO_SSL_VERIFYRESULT) ?? 0 : 0,
                isConnected: phase > .tlsHandshake, hasHead: reader.head != nil)
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
        error.peer = handle.flatMap { CurlFailure.peer(of: $0) }
        error.report = report
        return error
    }
}

extension TransportError.Phase {
    private var order: Int {
        switch self {
        case .queued: 0
        case .resolving: 1
        case .connecting: 2
        case .tlsHandshake: 3
        case .sending: 4
        case .awaitingResponse: 5
        case .receiving: 6
        }
    }

    fileprivate static func > (lhs: Self, rhs: Self) -> Bool { lhs.order > rhs.order }
}
