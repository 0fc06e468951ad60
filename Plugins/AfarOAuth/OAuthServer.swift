public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The endpoints of an authorization server, from its metadata (RFC 8414) or set by hand.
public struct OAuthServer: Sendable, Hashable {
    /// The server's identifier, a URL with https. If it isn't nil, the `iss` of a redirect must be equal to it (RFC 9207).
    public var issuer: String?
    /// The endpoint that issues tokens.
    public var tokenEndpoint: URL?
    /// The page on which the user authorizes the client.
    public var authorizationEndpoint: URL?
    /// The endpoint for devices without a browser (RFC 8628).
    public var deviceAuthorizationEndpoint: URL?
    /// The endpoint that revokes tokens (RFC 7009).
    public var revocationEndpoint: URL?
    /// The endpoint that receives authorization requests before the browser is opened (RFC 9126).
    public var pushedAuthorizationRequestEndpoint: URL?
    /// The server's public keys (RFC 7517), for example to verify ID tokens. AfarOAuth doesn't use it.
    public var jwksURI: URL?
    /// The methods of PKCE that the server supports (RFC 8414, section 2), or nil if they aren't known. Authorizations require `S256`.
    public var codeChallengeMethods: [String]?
    /// The metadata as JSON, for members without a property, or nil if the server was set by hand.
    public var metadata: Data?
    /// Whether all authorization requests must be pushed (RFC 9126, section 5). The default is false.
    public var requiresPushedAuthorizationRequests = false
    /// Whether each redirect must contain `iss` (RFC 9207, section 3). The default is false.
    public var sendsIssuerInRedirects = false
    /// The endpoints for clients that authenticate with a certificate, by their names in RFC 8414 (RFC 8705, section 5).
    public var mutualTLSEndpoints: [String: URL] = [:]

    /// Creates a server whose endpoints are set by hand.
    ///
    /// - Parameters:
    ///   - tokenEndpoint: The endpoint that issues tokens.
    ///   - authorizationEndpoint: The page on which the user authorizes the client. The default is nil.
    ///   - issuer: The server's identifier. The default is nil, which doesn't check the `iss` of redirects.
    public init(tokenEndpoint: URL, authorizationEndpoint: URL? = nil, issuer: String? = nil) {
        self.tokenEndpoint = tokenEndpoint
        self.authorizationEndpoint = authorizationEndpoint
        self.issuer = issuer
    }

    /// Requests the metadata of a server.
    ///
    /// The metadata is at `/.well-known/oauth-authorization-server` (RFC 8414, section 3). If it doesn't exist there, the location of
    /// OpenID Connect is used. Redirects aren't followed.
    ///
    /// - Parameters:
    ///   - issuer: The server's identifier, a URL with https without query and fragment. For a loopback address, http is permitted.
    ///   - session: The session for the request.
    /// - Throws: ``OAuthError/invalidMetadata(_:)`` if the metadata belongs to another issuer, and other errors.
    public static func discover(issuer: URL, session: Session) async throws(OAuthError) -> OAuthServer {
        guard let origin = Origin(issuer), issuer.query == nil, issuer.fragment == nil, issuer.user == nil else {
            throw .invalidArgument("An issuer is a URL with https, without user name, query and fragment.")
        }
        guard origin.isSecure() else { throw .insecureURL(host: origin.host) }
        let sender = EndpointSender(session: session)
        var lastError = OAuthError.invalidMetadata("No metadata was found.")
        for url in locations(of: issuer) {
            let reply = try await sender.get(url)
            // An overloaded server doesn't indicate that its metadata has another location.
            guard reply.status < 500, reply.status != 429 else { throw .failed(status: reply.status) }
            let object: JSONObject
            do throws(OAuthError) {
                guard reply.status == 200 else { throw .failed(status: reply.status) }
                // Some servers have a web page for each path.
                object = try reply.object()
            } catch {
                lastError = error
                continue
            }
            var server = try OAuthServer(metadata: object, issuer: issuer.absoluteString)
            server.metadata = reply.data
            return server
        }
        throw lastError
    }

    /// Returns the URLs at which the metadata can be found. The well-known path of RFC 8414, section 3.1, precedes the issuer's path.
    /// The well-known path of OpenID Connect follows it.
    static func locations(of issuer: URL) -> [URL] {
        guard var components = URLComponents(url: issuer, resolvingAgainstBaseURL: true) else { return [] }
        var path = components.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        return [
            "/.well-known/oauth-authorization-server\(path)", "\(path)/.well-known/openid-configuration",
        ].compactMap { location in
            components.percentEncodedPath = location
            return components.url
        }
    }

    init(metadata: JSONObject, issuer: String) throws(OAuthError) {
        // The issuers are compared without normalization (RFC 8414, section 3.3).
        guard let found = metadata.string("issuer"), found == issuer else {
            throw .invalidMetadata("Its issuer isn't the requested one. Compare both, including a slash at the end.")
        }
        let isLocal = URL(string: issuer).flatMap { Origin($0) }?.staysOnThisMachine() ?? false
        func endpoint(_ name: String, in object: JSONObject) throws(OAuthError) -> URL? {
            guard let text = object.string(name) else { return nil }
            guard let url = URL(string: text), let origin = Origin(url), url.fragment == nil, url.user == nil else {
                throw .invalidMetadata("The \(name) isn't a URL.")
            }
            // Another machine's metadata can't make the client send requests to this machine without TLS.
            guard origin.scheme == "https" || isLocal && origin.staysOnThisMachine() else {
                throw .insecureURL(host: origin.host)
            }
            return url
        }
        self.issuer = issuer
        tokenEndpoint = try endpoint("token_endpoint", in: metadata)
        authorizationEndpoint = try endpoint("authorization_endpoint", in: metadata)
        deviceAuthorizationEndpoint = try endpoint("device_authorization_endpoint", in: metadata)
        revocationEndpoint = try endpoint("revocation_endpoint", in: metadata)
        jwksURI = try endpoint("jwks_uri", in: metadata)
        codeChallengeMethods = metadata.strings("code_challenge_methods_supported")
        pushedAuthorizationRequestEndpoint = try endpoint("pushed_authorization_request_endpoint", in: metadata)
        requiresPushedAuthorizationRequests = metadata.bool("require_pushed_authorization_requests") ?? false
        sendsIssuerInRedirects = metadata.bool("authorization_response_iss_parameter_supported") ?? false
        if let aliases = metadata.object("mtls_endpoint_aliases") {
            // Aliases of other endpoints aren't used, so they aren't checked.
            for name in [
                "token_endpoint", "device_authorization_endpoint", "revocation_endpoint",
                "pushed_authorization_request_endpoint",
            ] {
                mutualTLSEndpoints[name] = try endpoint(name, in: aliases)
            }
        }
    }
}
