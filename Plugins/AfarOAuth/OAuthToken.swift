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
    /// The lifetime of the access token when it was issued, in seconds, or nil if the server didn't specify it.
    public var lifetime: TimeInterval?
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
    /// The server, client and key for which the token was issued. It is nil for a token that you create. See ``OAuthTokenSource``.
    public var source: OAuthTokenSource?

    /// Creates a token.
    public init(
        accessToken: String, type: String = "Bearer", expirationDate: Date? = nil, lifetime: TimeInterval? = nil,
        refreshToken: String? = nil,
        scope: String? = nil, idToken: String? = nil, issuedTokenType: String? = nil,
        otherMembers: [String: String] = [:], source: OAuthTokenSource? = nil
    ) {
        self.accessToken = accessToken
        self.type = type
        self.expirationDate = expirationDate
        self.lifetime = lifetime
        self.refreshToken = refreshToken
        self.scope = scope
        self.idToken = idToken
        self.issuedTokenType = issuedTokenType
        self.otherMembers = otherMembers
        self.source = source
    }

    /// Returns whether the token has expired or expires soon. A token without an expiration date never expires.
    ///
    /// - Parameters:
    ///   - date: The current date.
    ///   - leeway: How long before its expiration date a token counts as expired, in seconds. The default is nil: 30 seconds, or half
    ///     of the lifetime if that is shorter.
    public func isExpired(at date: Date, leeway: TimeInterval? = nil) -> Bool {
        let leeway = leeway ?? min(30, max(0, (lifetime ?? .infinity) / 2))
        return expirationDate.map { $0.timeIntervalSince(date) <= leeway } ?? false
    }

    var isDPoP: Bool { type.lowercased() == "dpop" }

    /// The name of the scheme for the field `Authorization`.
    var scheme: String { isDPoP ? "DPoP" : "Bearer" }
}

extension OAuthToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A description without secrets.
    public var description: String {
        var parts = ["\(type.singleLine) token"]
        if let expirationDate { parts.append("expires \(expirationDate.formatted(.iso8601))") }
        if refreshToken != nil { parts.append("with refresh token") }
        if let scope { parts.append("scope \(scope.singleLine)") }
        return parts.joined(separator: ", ")
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "accessToken": "***", "type": type.singleLine, "expirationDate": expirationDate as Any,
                "refreshToken": refreshToken.map { _ in "***" } as Any, "scope": scope?.singleLine as Any,
                "idToken": idToken.map { _ in "***" } as Any,
            ] as KeyValuePairs<String, Any>)
    }
}

/// The authorization server, client and key for which a token was issued.
///
/// A source contains neither the scope nor the resources of a token. Interceptors of one client that request different scopes or
/// resources need different stores.
///
/// Clients record the source in each token. A client doesn't send a refresh token to another server. An ``OAuthInterceptor`` ignores a
/// stored token of another source, for example if two configurations use the same file (mix-up, RFC 9700, section 4.4).
public struct OAuthTokenSource: Sendable, Hashable, Codable {
    /// The server's identifier, or nil if it isn't known.
    public var issuer: String?
    /// The endpoint that issued the token.
    public var tokenEndpoint: URL?
    /// The client's identifier.
    public var clientID: String
    /// The thumbprint of the DPoP key (RFC 7638), or nil for bearer tokens.
    public var keyThumbprint: String?

    /// Creates a source.
    public init(issuer: String?, tokenEndpoint: URL?, clientID: String, keyThumbprint: String? = nil) {
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
        self.clientID = clientID
        self.keyThumbprint = keyThumbprint
    }

    /// Whether both sources have the same server, client and key. A server whose issuer isn't known is identified by its token endpoint.
    func matches(_ other: OAuthTokenSource) -> Bool {
        let hasSameServer =
            issuer == nil || other.issuer == nil ? tokenEndpoint == other.tokenEndpoint : issuer == other.issuer
        return hasSameServer && clientID == other.clientID && keyThumbprint == other.keyThumbprint
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

extension OAuthToken {
    private static let names: Set = [
        "access_token", "token_type", "expires_in", "refresh_token", "scope", "id_token", "issued_token_type",
    ]
    /// The longest lifetime in seconds. A longer lifetime, or one that isn't a number, can't be converted to a date.
    private static let longestLifetime: TimeInterval = 100 * 365 * 86_400

    /// Reads a token response (RFC 6749, section 5.1).
    init(_ object: JSONObject, date: Date, isExchange: Bool, dpop: OAuthDPoP?) throws(OAuthError) {
        guard let accessToken = object.string("access_token"), Self.isToken(accessToken) else {
            throw .invalidResponse("It has no usable access_token.")
        }
        guard let type = object.string("token_type") else { throw .invalidResponse("It has no token_type.") }
        switch (type.lowercased(), dpop) {
        case ("bearer", nil), ("dpop", _?): break
        case ("n_a", _) where isExchange: break
        case ("bearer", _?): throw .invalidResponse("The token isn't bound to the DPoP key.")
        case ("dpop", nil): throw .invalidResponse("The token is bound to a DPoP key, but the client has none.")
        default: throw .invalidResponse("Its token_type isn't supported.")
        }
        var (lifetime, expirationDate): (TimeInterval?, Date?)
        if object.contains("expires_in") {
            guard let seconds = object.seconds("expires_in"), seconds >= 0 else {
                throw .invalidResponse("Its expires_in isn't a number of seconds.")
            }
            // Some servers send 0 if they don't specify a lifetime.
            if seconds > 0 {
                lifetime = min(seconds, Self.longestLifetime)
                expirationDate = lifetime.map { date.addingTimeInterval($0) }
            }
        }
        self.init(
            accessToken: accessToken, type: type, expirationDate: expirationDate, lifetime: lifetime,
            refreshToken: object.nonemptyString("refresh_token"), scope: object.nonemptyString("scope"),
            idToken: object.nonemptyString("id_token"), issuedTokenType: object.nonemptyString("issued_token_type"),
            otherMembers: object.texts(except: Self.names))
    }

    /// Whether a text can be sent in a header. RFC 6750, section 2.1, permits fewer characters.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
