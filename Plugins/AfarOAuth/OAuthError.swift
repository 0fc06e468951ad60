public import AfarCore
public import Foundation

/// The reason why an OAuth flow failed.
///
/// Messages contain no tokens, codes, secrets or requests. They include text from the server only for an error response. In this text,
/// `***` replaces the secrets of the request.
public enum OAuthError: Error, Sendable {
    /// The authorization server refused a request.
    case refused(OAuthErrorResponse)
    /// The request failed before a complete response arrived.
    case requestFailed(AFError)
    /// The authorization server responded with an unexpected status and without an error code.
    case failed(status: Int)
    /// A response of the authorization server isn't valid. The text describes what is wrong.
    case invalidResponse(String)
    /// The metadata of the authorization server isn't valid (RFC 8414, section 3.3).
    case invalidMetadata(String)
    /// An argument, or the combination of arguments, isn't valid.
    case invalidArgument(String)
    /// The server doesn't have the required endpoint. The text is the endpoint's name in RFC 8414, such as
    /// `revocation_endpoint`.
    case missingEndpoint(String)
    /// A secret would be sent without TLS to another machine.
    case insecureURL(host: String)
    /// The redirect doesn't belong to this authorization: it has another `state` or another redirect URI (RFC 6749, section 10.12).
    case redirectMismatch(String)
    /// The redirect is from another authorization server (RFC 9207, section 2.4).
    case issuerMismatch
    /// The user didn't confirm the device code before it expired (RFC 8628, section 3.5).
    case deviceCodeExpired
    /// No redirect arrived in time.
    case redirectTimedOut
    /// The listener for the redirect can't be used.
    case listenerFailed(String)
    /// No token is stored, or the stored token has expired and has no refresh token. The user must sign in again.
    case signInRequired
    /// A token was issued by another authorization server, or for another client or key. It isn't sent.
    case tokenMismatch
    /// In 30 seconds, a service refused more than 5 tokens, or 5 new tokens expired.
    case renewedTooOften
    /// The token store failed.
    case tokenStoreFailed(String)
    /// A key can't be read or used.
    case invalidKey(String)
    /// The task was canceled.
    case cancelled
}

extension OAuthError {
    /// The code of the server's error response, or nil if the error has another reason.
    public var code: OAuthErrorResponse.Code? {
        if case .refused(let response) = self { response.code } else { nil }
    }
}

/// An error response of an authorization server (RFC 6749, sections 4.1.2.1 and 5.2).
public struct OAuthErrorResponse: Sendable, Hashable {
    /// The value of `error`.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code as sent by the server.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request is malformed.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The client's authentication failed.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The code, refresh token or other grant is invalid, expired or revoked.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The client isn't permitted to use this flow.
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")
        /// The server doesn't support this flow.
        public static let unsupportedGrantType = Code(rawValue: "unsupported_grant_type")
        /// The scope is invalid or exceeds what was granted.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// The user or the server denied the request.
        public static let accessDenied = Code(rawValue: "access_denied")
        /// The server doesn't support the response type.
        public static let unsupportedResponseType = Code(rawValue: "unsupported_response_type")
        /// The server has an internal error.
        public static let serverError = Code(rawValue: "server_error")
        /// The server is overloaded or under maintenance.
        public static let temporarilyUnavailable = Code(rawValue: "temporarily_unavailable")
        /// The resource is unknown or malformed (RFC 8707).
        public static let invalidTarget = Code(rawValue: "invalid_target")
        /// The server doesn't revoke tokens of this type (RFC 7009).
        public static let unsupportedTokenType = Code(rawValue: "unsupported_token_type")
        /// The user hasn't confirmed the device code yet (RFC 8628).
        public static let authorizationPending = Code(rawValue: "authorization_pending")
        /// The device polls too often (RFC 8628).
        public static let slowDown = Code(rawValue: "slow_down")
        /// The device code has expired (RFC 8628).
        public static let expiredToken = Code(rawValue: "expired_token")
        /// The DPoP proof is invalid (RFC 9449).
        public static let invalidDPoPProof = Code(rawValue: "invalid_dpop_proof")
        /// The DPoP proof must contain a nonce of the server (RFC 9449).
        public static let useDPoPNonce = Code(rawValue: "use_dpop_nonce")
    }

    /// The code.
    public let code: Code
    /// A text for developers, as a single line, or nil. It comes from the server, so don't interpret it.
    public let description: String?
    /// The URI of a page about the error, or nil. It comes from the server.
    public let uri: String?
    /// The status of the response, or nil if the error was in a redirect.
    public let status: Int?

    /// Creates a response, for example for tests.
    public init(code: Code, description: String? = nil, uri: String? = nil, status: Int? = nil) {
        self.code = code
        self.description = description
        self.uri = uri
        self.status = status
    }

    init(code: String, description: String?, uri: String?, status: Int?, hiding secrets: [String]) {
        func shown(_ text: String) -> String {
            var text = text
            for secret in secrets where secret.utf8.count >= 4 { text = text.replacing(secret, with: "***") }
            return text.singleLine
        }
        self.code = Code(rawValue: shown(code))
        self.description = description.map(shown)
        self.uri = uri.map(shown)
        self.status = status
    }
}

extension OAuthError: LocalizedError {
    /// The reason and, if possible, what to do about it.
    public var errorDescription: String? {
        switch self {
        case .refused(let response):
            "The authorization server refused the request: \(response.code.rawValue)"
                + (response.description.map { " (\($0))" } ?? "") + (response.uri.map { ", see \($0)" } ?? "")
        case .requestFailed(let error): "The request to the authorization server failed: \(error.localizedDescription)"
        case .failed(let status):
            "The authorization server answered with the status \(status) and without an error code."
        case .invalidResponse(let reason): "The authorization server's response isn't valid: \(reason)"
        case .invalidMetadata(let reason): "The authorization server's metadata isn't valid: \(reason)"
        case .invalidArgument(let reason): reason
        case .missingEndpoint(let name): "The authorization server has no \(name). Set it in OAuthServer."
        case .insecureURL(let host):
            "The URL (host \(host)) isn't secure, so no secret is sent to it. Use https, or a loopback address."
        case .redirectMismatch(let reason): "The redirect doesn't belong to this authorization: \(reason)"
        case .issuerMismatch: "The redirect is from another authorization server than the one that was requested."
        case .deviceCodeExpired: "The device code has expired before the user confirmed it. Request a new one."
        case .redirectTimedOut: "The browser didn't return in time. Start the authorization again."
        case .listenerFailed(let reason): "The listener for the redirect can't be used: \(reason)"
        case .signInRequired: "No usable token is stored. The user must sign in again."
        case .tokenMismatch:
            "The token was issued by another authorization server, or for another client or key, so it isn't sent."
        case .renewedTooOften:
            "The token was renewed too often, and is still refused. Check that the service accepts the server's tokens."
        case .tokenStoreFailed(let reason): "The token store failed: \(reason)"
        case .invalidKey(let reason): reason
        case .cancelled: "The task was canceled."
        }
    }
}
