public import AfarCore
public import Foundation

/// A client of an authorization server (OAuth 2.0, RFC 6749).
///
/// ```swift
/// let server = try await OAuthServer.discover(issuer: issuer, session: session)
/// let client = OAuthClient(id: "reports", server: server, authentication: .basic(secret: secret), session: session)
/// let token = try await client.clientCredentials(scope: "reports.read")
/// ```
///
/// Requests use the session's transport and configuration, but not its cookies. Redirects aren't followed. Responses are limited to 1 MiB
/// and 60 seconds. Requests to an authorization server must use https, except to loopback addresses. An ``OAuthInterceptor`` of the session
/// doesn't change these requests.
public struct OAuthClient: Sendable {
    /// The client's identifier.
    public let id: String
    /// The authorization server.
    public let server: OAuthServer
    /// How the client authenticates.
    public let authentication: OAuthClientAuthentication
    /// Binds tokens to a key (RFC 9449), or nil for bearer tokens.
    public let dpop: OAuthDPoP?
    /// The session for requests to the authorization server.
    public let session: Session

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - id: The client's identifier.
    ///   - server: The authorization server.
    ///   - authentication: How the client authenticates. The default is ``OAuthClientAuthentication/none``.
    ///   - dpop: Binds tokens to a key. The default is nil.
    ///   - session: The session for requests to the authorization server. Expiration dates use its time source.
    public init(
        id: String, server: OAuthServer, authentication: OAuthClientAuthentication = .none, dpop: OAuthDPoP? = nil,
        session: Session
    ) {
        self.id = id
        self.server = server
        self.authentication = authentication
        self.dpop = dpop
        self.session = session
    }

    var now: Date { session.configuration.timeSource.now }

    // MARK: Flows

    /// Requests a token for the client itself (RFC 6749, section 4.4).
    ///
    /// - Parameters:
    ///   - scope: The scope, separated by spaces. The default is nil: the server chooses it.
    ///   - resources: The resources that the token is for (RFC 8707). The default is none.
    ///   - parameters: Additional parameters of the request, such as `audience`. The default is none.
    /// - Throws: An ``OAuthError``.
    public func clientCredentials(
        scope: String? = nil, resources: [URL] = [], parameters: [String: String] = [:]
    ) async throws(OAuthError) -> OAuthToken {
        if case .none = authentication.method {
            throw .invalidArgument("The client credentials flow requires a client authentication.")
        }
        return try await token(
            "client_credentials", Parameter.optional("scope", scope) + Self.resources(resources), and: parameters)
    }

    /// Requests a new token with a refresh token (RFC 6749, section 6).
    ///
    /// Members that the response doesn't contain, such as the refresh token, scope and ID token, have the values of the old token.
    ///
    /// - Parameters:
    ///   - token: A token with a refresh token.
    ///   - scope: A part of the token's scope. The default is nil: the same scope.
    ///   - resources: The resources that the token is for (RFC 8707). The default is none.
    ///   - parameters: Additional parameters of the request. The default is none.
    /// - Throws: ``OAuthError/signInRequired`` if the token has no refresh token, ``OAuthError/tokenMismatch`` if it was issued by
    ///   another server or for another client or key, and other errors.
    public func refresh(
        _ token: OAuthToken, scope: String? = nil, resources: [URL] = [], parameters: [String: String] = [:]
    ) async throws(OAuthError) -> OAuthToken {
        guard let refreshToken = token.refreshToken else { throw .signInRequired }
        guard try issued(token) else { throw .tokenMismatch }
        let form = [Parameter("refresh_token", refreshToken)] + Parameter.optional("scope", scope)
        var new = try await self.token("refresh_token", form + Self.resources(resources), and: parameters)
        new.refreshToken = new.refreshToken ?? refreshToken
        new.scope = new.scope ?? scope ?? token.scope
        new.idToken = new.idToken ?? token.idToken
        new.otherMembers.merge(token.otherMembers) { new, _ in new }
        return new
    }

    /// Exchanges a token for another one (RFC 8693), for example to call another service on behalf of a user.
    ///
    /// - Parameters:
    ///   - subjectToken: The token of the party on whose behalf the new token is used.
    ///   - subjectTokenType: The type of `subjectToken`. The default is ``OAuthTokenType/accessToken``.
    ///   - actorToken: The token of the acting party and its type. The default is nil.
    ///   - requestedType: The type of the new token. The default is nil: the server chooses it.
    ///   - audiences: The names of the services that the new token is for. The default is none.
    ///   - scope: The scope, separated by spaces. The default is nil.
    ///   - resources: The resources that the new token is for (RFC 8707). The default is none.
    ///   - parameters: Additional parameters of the request. The default is none.
    /// - Throws: An ``OAuthError``.
    public func exchange(
        _ subjectToken: String, type subjectTokenType: OAuthTokenType = .accessToken,
        actorToken: (token: String, type: OAuthTokenType)? = nil, requestedType: OAuthTokenType? = nil,
        audiences: [String] = [], scope: String? = nil, resources: [URL] = [], parameters: [String: String] = [:]
    ) async throws(OAuthError) -> OAuthToken {
        var form = [
            Parameter("subject_token", subjectToken), Parameter("subject_token_type", subjectTokenType.rawValue),
        ]
        if let actorToken {
            form += [
                Parameter("actor_token", actorToken.token), Parameter("actor_token_type", actorToken.type.rawValue),
            ]
        }
        form += Parameter.optional("requested_token_type", requestedType?.rawValue)
        form += Parameter.optional("scope", scope)
        form += try audiences.map { Parameter("audience", $0) } + Self.resources(resources)
        return try await token("urn:ietf:params:oauth:grant-type:token-exchange", form, and: parameters)
    }

    /// Requests a token with another grant type, for example `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523, section 2.1).
    ///
    /// - Parameters:
    ///   - grantType: The grant type (`grant_type`).
    ///   - scope: The scope, separated by spaces. The default is nil: the server chooses it.
    ///   - resources: The resources that the token is for (RFC 8707). The default is none.
    ///   - parameters: The parameters of the grant, such as `assertion`.
    /// - Throws: An ``OAuthError``.
    public func requestToken(
        grantType: String, scope: String? = nil, resources: [URL] = [], parameters: [String: String]
    ) async throws(OAuthError) -> OAuthToken {
        try await token(grantType, try Parameter.optional("scope", scope) + Self.resources(resources), and: parameters)
    }

    /// Revokes a token (RFC 7009). If it has a refresh token, the method revokes the refresh token, which usually also revokes its access
    /// tokens. Otherwise, the method revokes the access token.
    ///
    /// The server also reports success for a token that doesn't exist.
    ///
    /// - Throws: ``OAuthError/tokenMismatch`` if the token was issued by another server or for another client or key, and other errors.
    public func revoke(_ token: OAuthToken) async throws(OAuthError) {
        guard try issued(token) else { throw .tokenMismatch }
        let (text, hint) =
            token.refreshToken.map { ($0, "refresh_token") } ?? (token.accessToken, "access_token")
        let form = [Parameter("token", text), Parameter("token_type_hint", hint)]
        let reply = try await post(form, to: "revocation_endpoint", server.revocationEndpoint)
        guard reply.status == 200 || reply.status == 204 else { throw refusal(reply) }
    }

    // MARK: The token endpoint

    /// Returns the parameters for resources, which are absolute URIs without fragment (RFC 8707, section 2).
    static func resources(_ urls: [URL]) throws(OAuthError) -> [Parameter] {
        guard urls.allSatisfy({ $0.scheme != nil && $0.fragment == nil }) else {
            throw .invalidArgument("A resource is an absolute URI without fragment.")
        }
        return urls.map { Parameter("resource", $0.absoluteString) }
    }

    /// Returns whether a token was issued for this client and its key. A token without source was created by the caller.
    func issued(_ token: OAuthToken) throws(OAuthError) -> Bool {
        guard let tokenSource = token.source else { return true }
        return try source.matches(tokenSource)
    }

    /// The source of tokens that are issued for this client.
    var source: OAuthTokenSource {
        get throws(OAuthError) {
            OAuthTokenSource(
                issuer: server.issuer, tokenEndpoint: server.tokenEndpoint, clientID: id,
                keyThumbprint: try dpop?.key.thumbprint)
        }
    }

    func token(
        _ grantType: String, _ form: [Parameter], and others: [String: String] = [:]
    ) async throws(OAuthError) -> OAuthToken {
        let form = try Self.adding(others, to: [Parameter("grant_type", grantType)] + form)
        let reply = try await post(form, to: "token_endpoint", server.tokenEndpoint)
        // Some servers report errors with the status 200.
        guard reply.status == 200, (try? reply.object())?.nonemptyString("error") == nil else {
            throw refusal(reply)
        }
        var token = try OAuthToken(
            reply.object(), date: now, isExchange: grantType.hasSuffix("token-exchange"), dpop: dpop)
        token.source = try source
        return token
    }

    /// Adds a caller's parameters, which can't replace those of the flow.
    static func adding(_ others: [String: String], to form: [Parameter]) throws(OAuthError) -> [Parameter] {
        let names = Set(form.map(\.name)).union(["client_id", "client_secret", "client_assertion"])
        for name in others.keys.sorted() where names.contains(name) {
            throw .invalidArgument("The parameter \(name) is set by the flow.")
        }
        return form + others.sorted { $0.key < $1.key }.map { Parameter($0.key, $0.value) }
    }

    /// Sends a form with the client's authentication and a proof. If the server requires a nonce, sends the form again once (RFC 9449,
    /// section 8).
    func post(_ form: [Parameter], to name: String, _ endpoint: URL?) async throws(OAuthError) -> EndpointSender.Reply {
        let alias = authentication.isMutualTLS ? server.mutualTLSEndpoints[name] : nil
        guard let url = alias ?? endpoint else { throw .missingEndpoint(name) }
        let nonce = dpop?.nonce(for: url)
        let reply = try await postOnce(form, to: url, nonce: nonce)
        guard let dpop, [400, 401].contains(reply.status), let newNonce = dpop.nonce(for: url), newNonce != nonce,
            (try? reply.object().string("error")) == OAuthErrorResponse.Code.useDPoPNonce.rawValue
        else { return reply }
        return try await postOnce(form, to: url, nonce: newNonce)
    }

    private func postOnce(
        _ form: [Parameter], to url: URL, nonce: String?
    ) async throws(OAuthError) -> EndpointSender.Reply {
        var (form, headers) = (form, HTTPHeaders())
        switch authentication.method {
        case .none, .mutualTLS: form.append(Parameter("client_id", id))
        case .basic(let secret):
            let pair = "\(FormText.encoded(id)):\(FormText.encoded(secret))"
            headers.add(name: "Authorization", value: "Basic \(Data(pair.utf8).base64EncodedString())")
        case .post(let secret): form += [Parameter("client_id", id), Parameter("client_secret", secret)]
        case .privateKeyJWT(let key, let keyID, let audience):
            form += assertionParameters(try assertion(key, keyID, audience))
        case .assertion(let assertion):
            do {
                form += assertionParameters(try await assertion().trimmingCharacters(in: .whitespacesAndNewlines))
            } catch is CancellationError {
                throw .cancelled
            } catch {
                throw .invalidArgument("The client's assertion isn't available: \(error.localizedDescription)")
            }
        }
        if let dpop {
            let proof = try dpop.proof(method: "POST", url: url, accessToken: nil, nonce: nonce, date: now)
            headers.add(name: "DPoP", value: proof)
        }
        var reply = try await EndpointSender(session: session).post(form, to: url, headers: headers)
        reply.secrets = secrets(in: form)
        dpop?.receive(nonce: reply.headers["DPoP-Nonce"], from: url)
        return reply
    }

    private func assertionParameters(_ assertion: String) -> [Parameter] {
        [
            Parameter("client_id", id),
            Parameter("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            Parameter("client_assertion", assertion),
        ]
    }

    /// Returns the token that authenticates the client (RFC 7523, section 3).
    private func assertion(
        _ key: any OAuthSigner, _ keyID: String?, _ audience: String?
    ) throws(OAuthError) -> String {
        guard let audience = audience ?? server.issuer ?? server.tokenEndpoint?.absoluteString else {
            throw .missingEndpoint("token_endpoint")
        }
        let claims = ["iss": id, "sub": id, "aud": audience, "jti": randomText(16)]
        let date = now
        return try key.token(
            header: keyID.map { ["typ": "JWT", "kid": $0] } ?? ["typ": "JWT"], claims: claims,
            times: ["iat": date, "exp": date.addingTimeInterval(60)])
    }

    /// Returns the error for an unexpected status.
    func refusal(_ reply: EndpointSender.Reply) -> OAuthError {
        guard let object = try? reply.object(), let code = object.nonemptyString("error") else {
            return .failed(status: reply.status)
        }
        return .refused(
            OAuthErrorResponse(
                code: code, description: object.string("error_description"), uri: object.string("error_uri"),
                status: reply.status, hiding: reply.secrets))
    }

    /// The secrets of a request, which a server could repeat in a description of an error.
    private func secrets(in form: [Parameter]) -> [String] {
        var secrets = form.filter { parameter in
            let isSecret = Redaction.isSensitiveParameter(parameter.name) || parameter.name == "state"
            // Names such as `subject_token_type` aren't secret.
            return isSecret && !parameter.name.hasSuffix("_type") && !parameter.name.hasSuffix("_hint")
        }.map(\.value)
        if case .basic(let secret) = authentication.method { secrets.append(secret) }
        // Sorts the longest first, because one secret can be part of another.
        return secrets.sorted { $0.utf8.count > $1.utf8.count }
    }
}

extension Parameter {
    /// Returns a parameter if it has a value.
    static func optional(_ name: String, _ value: String?) -> [Parameter] { value.map { [Parameter(name, $0)] } ?? [] }
}
