import AfarTransport
import Foundation

extension TransportError {
    /// What a task's error says, in a transport's terms.
    init(_ error: any Error, phase: Phase, url: String) {
        let urlError = error as? URLError
        let message = error.localizedDescription
        var code = urlError.map { Self.code(of: $0.code) } ?? .unknown
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

    private static func code(of code: URLError.Code) -> Code {
        switch code {
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .badURL: .invalidURL
        case .unsupportedURL: .unsupportedURL
        case .cannotFindHost, .dnsLookupFailed: .cannotFindHost
        case .cannotConnectToHost: .cannotConnect
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: .notConnected
        case .networkConnectionLost: .connectionLost
        case .secureConnectionFailed: .secureConnectionFailed
        case .serverCertificateUntrusted: .certificateUntrusted
        case .serverCertificateHasBadDate: .certificateHasBadDate
        case .serverCertificateNotYetValid: .certificateNotYetValid
        case .serverCertificateHasUnknownRoot: .certificateHasUnknownRoot
        case .clientCertificateRejected: .clientCertificateRejected
        case .clientCertificateRequired: .clientCertificateRequired
        case .badServerResponse, .cannotParseResponse, .zeroByteResource: .malformedResponse
        case .dataLengthExceedsMaximum: .responseTooLarge
        case .cannotDecodeContentData, .cannotDecodeRawData: .undecodableContent
        case .requestBodyStreamExhausted, .fileDoesNotExist, .noPermissionsToReadFile: .requestBodyFailed
        case .httpTooManyRedirects: .tooManyRedirects
        case .resourceUnavailable: .outOfResources
        default: .unknown
        }
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
