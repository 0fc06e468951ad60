public import Foundation

/// An access token with the other members of a token response (RFC 6749, section 5.1).
///
/// Descriptions and mirrors of a token hide its secrets. The encoded form contains them, so store it where only its user can read it.
public struct OAuthToken: Sendable, Hashable, Codable {
    /// The access token. It is secret.
    public var accessToken: String
    /// The type of the token: `Bearer` (RFC 6750) or `DPoP` (RFC 9449). For a token exchange, it can also be `N_A` (RFC 8693).
    public var type: String
    /// When the access token expires, or nil if the server didn't specify it.
    public var expirationDate: Date?
    /// The token that renews the access token, or nil. It is secret.
    public var refreshToken: String?
    /// The granted scope, separated by spaces, or nil if the server granted the requested scope.
    public var scope: String?
    /// The ID token of OpenID Connect, or nil. It hasn't been verified: check its signature, issuer, audience and nonce before you
    /// trust its claims.
    public var idToken: String?
    /// The type of the token that a token exchange issued (RFC 8693, section 2.2.1), or nil.
    public var issuedTokenType: String?
    /// The other members of the response whose values are strings, numbers or Boolean values, as text.
    public var otherMembers: [String: String]

    /// Creates a token.
    public init(
        accessToken: String, type: String = "Bearer", expirationDate: Date? = nil, refreshToken: String? = nil,
        scope: String? = nil, idToken: String? = nil, issuedTokenType: String? = nil,
        otherMembers: [String: String] = [:]
    ) {
        self.accessToken = accessToken
        self.type = type
        self.expirationDate = expirationDate
        self.refreshToken = refreshToken
        self.scope = scope
        self.idToken = idToken
        self.issuedTokenType = issuedTokenType
        self.otherMembers = otherMembers
    }

    /// Returns whether the token has expired or expires soon. A token without an expiration date never expires.
    ///
    /// - Parameters:
    ///   - date: The current date.
    ///   - leeway: How long before its expiration date a token counts as expired, in seconds. The default is 30.
    public func isExpired(at date: Date, leeway: TimeInterval = 30) -> Bool {
        expirationDate.map { $0.timeIntervalSince(date) <= leeway } ?? false
    }

    var isDPoP: Bool { type.lowercased() == "dpop" }

    /// The name of the scheme for the field `Authorization`.
    var scheme: String { isDPoP ? "DPoP" : "Bearer" }
}

extension OAuthToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A description without secrets.
    public var description: String {
        var parts = ["\(type) token"]
        if let expirationDate { parts.append("expires \(expirationDate.formatted(.iso8601))") }
        if refreshToken != nil { parts.append("with refresh token") }
        if let scope { parts.append("scope \(scope)") }
        return parts.joined(separator: ", ")
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "accessToken": "***", "type": type, "expirationDate": expirationDate as Any,
                "refreshToken": refreshToken.map { _ in "***" } as Any, "scope": scope as Any,
                "idToken": idToken.map { _ in "***" } as Any,
            ] as KeyValuePairs<String, Any>)
    }
}

/// The type of a token in a token exchange (RFC 8693, section 3).
public struct OAuthTokenType: RawRepresentable, Sendable, Hashable {
    /// The URI of the type.
    public let rawValue: String

    /// Creates a type.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An access token.
    public static let accessToken = OAuthTokenType(rawValue: "urn:ietf:params:oauth:token-type:access_token")
    /// A refresh token.
    public static let refreshToken = OAuthTokenType(rawValue: "urn:ietf:params:oauth:token-type:refresh_token")
    /// An ID token of OpenID Connect.
    public static let idToken = OAuthTokenType(rawValue: "urn:ietf:params:oauth:token-type:id_token")
    /// A JSON Web Token (RFC 7519).
    public static let jwt = OAuthTokenType(rawValue: "urn:ietf:params:oauth:token-type:jwt")
    /// A SAML 2.0 assertion.
    public static let saml2 = OAuthTokenType(rawValue: "urn:ietf:params:oauth:token-type:saml2")
}
