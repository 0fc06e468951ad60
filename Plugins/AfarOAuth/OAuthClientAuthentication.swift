import Foundation

/// How a client authenticates at the authorization server (RFC 6749, section 2.3).
///
/// Descriptions don't contain secrets.
public struct OAuthClientAuthentication: Sendable {
    enum Method: Sendable {
        case none
        case basic(secret: String)
        case post(secret: String)
        case privateKeyJWT(any OAuthSigner, keyID: String?, audience: String?)
        case assertion(@Sendable () async throws -> String)
        case mutualTLS
    }

    let method: Method

    /// The client is public: it has no secret. Requests contain only its identifier.
    public static let none = OAuthClientAuthentication(method: .none)

    /// The identifier and a secret in the field `Authorization`. Both are form-encoded first (RFC 6749, section 2.3.1).
    public static func basic(secret: String) -> OAuthClientAuthentication { .init(method: .basic(secret: secret)) }

    /// The identifier and a secret in the form. Use it only if the server doesn't support ``basic(secret:)``.
    public static func post(secret: String) -> OAuthClientAuthentication { .init(method: .post(secret: secret)) }

    /// A JSON Web Token that is signed with a private key (`private_key_jwt`, RFC 7523). Each request has a new token, which expires
    /// after 60 seconds.
    ///
    /// - Parameters:
    ///   - key: The private key whose public key the server has.
    ///   - keyID: The identifier of the key (`kid`). The default is nil.
    ///   - audience: The audience of the token. The default is nil, which means the server's issuer, or its token endpoint if the
    ///     issuer isn't known.
    public static func privateKeyJWT(
        _ key: any OAuthSigner, keyID: String? = nil, audience: String? = nil
    ) -> OAuthClientAuthentication {
        .init(method: .privateKeyJWT(key, keyID: keyID, audience: audience))
    }

    /// A JSON Web Token that your code provides (RFC 7523), for example from a signing service or from the platform on which the
    /// program runs.
    ///
    /// - Parameter assertion: Returns the token. It is called for each request. If it throws an error, the request fails.
    public static func assertion(_ assertion: @escaping @Sendable () async throws -> String)
        -> OAuthClientAuthentication
    {
        .init(method: .assertion(assertion))
    }

    /// The client's certificate (RFC 8705). Set it as the `clientIdentity` of the session's configuration. Requests use the
    /// ``OAuthServer/mutualTLSEndpoints``.
    public static let mutualTLS = OAuthClientAuthentication(method: .mutualTLS)

    var isMutualTLS: Bool { if case .mutualTLS = method { true } else { false } }
}

extension OAuthClientAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the method in RFC 8414. The text contains no secret.
    public var description: String {
        switch method {
        case .none: "none"
        case .basic: "client_secret_basic"
        case .post: "client_secret_post"
        case .privateKeyJWT, .assertion: "private_key_jwt"
        case .mutualTLS: "tls_client_auth"
        }
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }
    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["method": description]) }
}
