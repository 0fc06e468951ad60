import AfarTransport
import Foundation

extension TransportError {
    /// What a task's error says, in a transport's terms.
    init(_ error: any Error, phase: Phase, url: String) {
        let urlError = error as? URLError
        let message = error.localizedDescription
        var code = urlError.map { Code($0.code) } ?? .unknown
        if code == .unknown || code == .unsupportedURL { code = Platform.code(ofMessage: message) ?? code }
        if code == .connectionLost, phase == .receiving { code = .bodyIncomplete }
        self.init(
            code,
            phase: Self.phase(of: code) ?? phase,
            url: url,
            message: message,
            transportCode: urlError?.errorCode,
            underlying: urlError?.redacted ?? error
        )
    }

    /// The phase in which failures of this code happen, where there is only one.
    private static func phase(of code: Code) -> Phase? {
        switch code {
        case .invalidURL, .unsupportedURL: .queued
        case .cannotFindHost: .resolving
        case .cannotConnect, .notConnected: .connecting
        case .secureConnectionFailed, .certificateUntrusted, .certificateHasBadDate, .certificateNotYetValid,
            .certificateHasUnknownRoot, .clientCertificateRejected, .clientCertificateRequired:
            .tlsHandshake
        case .requestBodyFailed: .sending
        case .bodyIncomplete, .undecodableContent, .responseTooLarge: .receiving
        default: nil
        }
    }
}

extension URLError {
    /// The same error without the secrets of the URLs that are printed with it.
    fileprivate var redacted: URLError {
        let userInfo = errorUserInfo.mapValues { value -> Any in
            switch value {
            case let url as URL: URL(string: Redaction.standard.url(url.absoluteString)) ?? url
            case let text as String: Redaction.standard.text(text)
            default: value
            }
        }
        return URLError(code, userInfo: userInfo)
    }
}
