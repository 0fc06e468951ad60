import Afar
import Foundation

extension Failure {
    /// The failure of a request to `url`.
    init(_ error: AFError, url: String) {
        let place = Redaction.standard.url(url)
        if let cause = error.transportError {
            self = cause.underlying as? Failure ?? Failure(cause, url: cause.url ?? place)
            return
        }
        switch error {
        case .invalidURL, .urlRequestValidationFailed, .createURLRequestFailed, .parameterEncodingFailed,
            .parameterEncoderFailed:
            self.init(.usage, error.localizedDescription)
        case .serverTrustEvaluationFailed:
            let text = error.localizedDescription
            self.init(
                .connection,
                "\(text)\(text.hasSuffix(".") ? "" : ".") Nothing was sent to it. \(Self.trustHint(URLText.host(of: place)))"
            )
        default:
            self.init(.other, "\(error.localizedDescription) The URL is \(place).")
        }
    }

    private static func trustHint(_ host: String) -> String { "\"afar trust \(host)\" shows the certificates." }

    /// What a transport's failure means to the person who asked for `url`.
    init(_ error: TransportError, url: String) {
        let host = URLText.host(of: url)
        let reason = error.systemError.map { Failure.systemReason(of: $0) } ?? error.message
        switch error.code {
        case .invalidURL, .unsupportedURL:
            self.init(.usage, "This URL cannot be requested: \(url): \(error.message).")
        case .invalidUse where error.phase == .queued:
            self.init(.usage, "\(error.message.capitalizedFirst).")
        case .unsupportedByTransport:
            self.init(.usage, "\(error.message.capitalizedFirst). Try another --transport.")
        case .invalidCredential:
            self.init(.usage, "The user name or password for \(host) cannot be sent: \(error.message).")
        case .cannotFindHost:
            self.init(.connection, "The host \(host) was not found. Check its spelling, and your network.")
        case .cannotConnect:
            self.init(.connection, "Could not connect to \(host): \(reason). Is a server running there?")
        case .proxyFailed:
            self.init(.connection, "\(host) cannot be reached: \(error.message). Choose another with --proxy, or none.")
        case .notConnected:
            self.init(.connection, "\(host) cannot be reached: \(reason). Check your network.")
        case .secureConnectionFailed:
            // What OpenSSL says of bytes that are no TLS.
            let advice =
                reason.contains("wrong version number") ? " If it speaks plain HTTP, write http:// before it." : ""
            self.init(.connection, "No TLS with \(host): \(reason).\(advice)")
        case .certificateUntrusted, .certificateHasBadDate, .certificateNotYetValid, .certificateHasUnknownRoot:
            self.init(
                .connection,
                "The certificate of \(host) is not to be trusted: \(reason). Nothing was sent to it. \(Self.trustHint(host))"
            )
        case .clientCertificateRejected, .clientCertificateRequired:
            self.init(
                .connection,
                "\(host) wants another client certificate than this, or one at all (--cert, --key): \(reason).")
        case .connectionLost where error.phase.isBeforeSending:
            self.init(.connection, "The connection to \(host) broke before anything was sent: \(reason).")
        case .timedOut where error.phase.isBeforeSending && error.phase != .queued:
            self.init(
                .timeout, "No connection to \(host) in time: \(error.message). Is it up, and is nothing in between?")
        case .timedOut:
            self.init(.timeout, "\(url) took too long: \(error.message). Allow more with --timeout.")
        case .connectionLost, .bodyIncomplete:
            self.init(.response, "The response from \(url) broke off: \(reason). Try again.")
        case .malformedResponse:
            self.init(.response, "What \(host) answered is not valid HTTP: \(error.message). Is it a web server?")
        case .headTooLarge:
            self.init(.response, "The response from \(url) has too large a head.")
        case .responseTooLarge:
            self.init(.response, "The response from \(url) is too large: \(error.message).")
        case .undecodableContent:
            self.init(
                .response,
                "The body from \(url) cannot be decoded: \(error.message). Try -H 'Accept-Encoding: identity'.")
        case .tooManyRedirects:
            self.init(
                .response,
                "\(error.message.capitalizedFirst). Allow more with --max-redirects, or see where it begins with "
                    + "--no-follow.")
        case .invalidRedirect, .insecureRedirect:
            let cause = error.underlying.map { ": \($0.localizedDescription)" } ?? "."
            self.init(
                .response, "\(error.message.capitalizedFirst)\(cause) To see the response itself, use --no-follow.")
        case .deliveryFailed:
            self.init(.other, "What \(url) sent cannot be kept: \(reason).")
        default:
            self.init(.other, "The request to \(url) failed while \(error.phase.rawValue): \(reason) (\(error.code)).")
        }
    }
}

extension TransportError.Phase {
    fileprivate var isBeforeSending: Bool {
        switch self {
        case .queued, .resolving, .connecting, .tlsHandshake: true
        case .sending, .awaitingResponse, .receiving: false
        }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
