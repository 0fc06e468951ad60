import AfarKeys
public import Foundation
import Synchronization

/// An authorization by the user in a browser: the authorization code flow (RFC 6749, section 4.1) with PKCE (RFC 7636).
///
/// ```swift
/// let authorization = try await client.authorization(redirectURI: redirectURI, scope: "files.read")
/// // Open authorization.url in the browser. Then pass the URL to which the browser is redirected:
/// let token = try await authorization.token(redirectedTo: url)
/// ```
public struct OAuthAuthorization: Sendable {
    /// The page to open in the browser. Its query contains the `state` of this authorization.
    public let url: URL
    /// The URI to which the browser is redirected, without code and state.
    public let redirectURI: URL

    private let client: OAuthClient
    private let state: String
    private let verifier: CodeVerifier
    private let resources: [Parameter]
    private let isUsed = UsedFlag()

    /// The authorization in a form that can be stored, for example by a web server until the browser returns. It contains secrets.
    ///
    /// - Throws: ``OAuthError/invalidKey(_:)`` if the thumbprint of the client's DPoP key isn't available.
    public var pending: OAuthPendingAuthorization {
        get throws(OAuthError) {
            OAuthPendingAuthorization(
                url: url, redirectURI: redirectURI, state: state, verifier: verifier.text,
                resources: resources.map(\.value), source: try client.source)
        }
    }

    init(
        url: URL, redirectURI: URL, client: OAuthClient, state: String, verifier: CodeVerifier, resources: [Parameter]
    ) {
        self.url = url
        self.redirectURI = redirectURI
        self.client = client
        self.state = state
        self.verifier = verifier
        self.resources = resources
    }

    /// Requests the token after the user has authorized the client. This is possible only once for each authorization.
    ///
    /// - Parameter url: The URL to which the browser was redirected, with its query.
    /// - Throws: ``OAuthError/redirectMismatch(_:)`` or ``OAuthError/issuerMismatch`` if the redirect belongs to another authorization.
    ///   ``OAuthError/refused(_:)`` with the code `access_denied` if the user denied the request. Another ``OAuthError`` in other
    ///   cases.
    public func token(redirectedTo url: URL) async throws(OAuthError) -> OAuthToken {
        let code = try code(in: url)
        return try await client.token(
            "authorization_code",
            [
                Parameter("code", code), Parameter("redirect_uri", redirectURI.absoluteString),
                Parameter("code_verifier", verifier.text),
            ] + resources)
    }

    /// Whether a URL is a redirect of this authorization.
    func accepts(_ url: URL) -> Bool { (try? parameters(of: url)) != nil }

    private func code(in url: URL) throws(OAuthError) -> String {
        let parameters = try parameters(of: url)
        let issuer = try parameters.value("iss")
        if let expected = client.server.issuer {
            if let issuer, !Hashing.equalInConstantTime(issuer.utf8, expected.utf8) { throw .issuerMismatch }
            if issuer == nil, client.server.sendsIssuerInRedirects { throw .issuerMismatch }
        }
        let code = try parameters.value("code")
        if let error = try parameters.value("error") {
            throw .refused(
                OAuthErrorResponse(
                    code: error, description: try parameters.value("error_description"),
                    uri: try parameters.value("error_uri"), status: nil,
                    hiding: [state, verifier.text] + (code.map { [$0] } ?? [])))
        }
        guard let code, !code.isEmpty else {
            throw .redirectMismatch("It contains neither a code nor an error.")
        }
        // Using a code twice can revoke the tokens of the first use (RFC 6749, section 4.1.2).
        guard !isUsed.set() else { throw .redirectMismatch("The authorization has been used. Create a new one.") }
        return code
    }

    /// Checks that a redirect has the URI and the state of this authorization, and returns its parameters.
    private func parameters(of url: URL) throws(OAuthError) -> RedirectParameters {
        guard let expected = Target(redirectURI), let target = Target(url),
            Hashing.equalInConstantTime(expected.base.utf8, target.base.utf8)
        else { throw .redirectMismatch("It has another URI.") }
        // If the redirect URI has query parameters, each redirect contains them too (RFC 6749, section 3.1.2).
        let parameters = RedirectParameters(target.query)
        guard let state = try parameters.value("state"), Hashing.equalInConstantTime(state.utf8, self.state.utf8) else {
            throw .redirectMismatch("It has another state.")
        }
        return parameters
    }

    /// A URL that is divided into its query and everything before it.
    private struct Target {
        let base: String
        let query: String

        init?(_ url: URL) {
            guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
            query = components.percentEncodedQuery ?? ""
            (components.query, components.fragment) = (nil, nil)
            components.scheme = components.scheme?.lowercased()
            components.percentEncodedHost = components.percentEncodedHost?.lowercased()
            if components.percentEncodedPath.isEmpty, components.host != nil { components.percentEncodedPath = "/" }
            base = components.string ?? ""
        }
    }
}

extension OAuthAuthorization: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The redirect URI. The text contains neither the state nor the verifier.
    public var description: String { "authorization with redirect to \(redirectURI)" }
    /// The same text as ``description``.
    public var debugDescription: String { description }
    /// A mirror without the state and the verifier.
    public var customMirror: Mirror { Mirror(self, children: ["redirectURI": redirectURI]) }
}

/// Whether an authorization has been used. Copies of the authorization share the flag.
private final class UsedFlag: Sendable {
    private let value = Atomic(false)

    /// Sets the flag, and returns its former value.
    func set() -> Bool { value.exchange(true, ordering: .relaxed) }
}

private struct RedirectParameters {
    private let all: [(name: String, value: String?)]

    init(_ query: String) { all = FormText.decoded(query) }

    /// Returns the value of a parameter, which must not occur twice (RFC 6749, section 3.1).
    func value(_ name: String) throws(OAuthError) -> String? {
        let found = all.filter { $0.name == name }
        guard found.count <= 1 else { throw .redirectMismatch("The parameter \(name) occurs twice.") }
        guard let first = found.first else { return nil }
        guard let value = first.value else { throw .redirectMismatch("The parameter \(name) isn't encoded correctly.") }
        return value
    }
}

/// The secret that proves that the sender of a code started the authorization (RFC 7636).
struct CodeVerifier: Sendable {
    let text: String

    /// Creates a verifier from 32 bytes of the system's random source (section 4.1).
    init() { text = randomText(32) }

    init(text: String) { self.text = text }

    /// The challenge with the method `S256` (section 4.2).
    var challenge: String {
        get throws(OAuthError) { try sha256(text).base64URLEncoded }
    }
}

extension OAuthClient {
    /// Creates an authorization by the user in a browser, with PKCE and the method `S256`.
    ///
    /// - Parameters:
    ///   - redirectURI: The URI to which the browser is redirected: a claimed https URL, a private scheme such as
    ///     `com.example.app:/callback`, or the ``OAuthLoopbackListener/redirectURI`` of a listener (RFC 8252, section 7).
    ///   - scope: The scope, separated by spaces. The default is nil: the server chooses it.
    ///   - isPushed: Whether the request is sent to the server before the browser is opened (RFC 9126). The default is false. If the server
    ///     requires it, the request is always sent first.
    ///   - resources: The resources that the token is for (RFC 8707). The default is none.
    ///   - parameters: Additional parameters, such as `prompt`, `login_hint` or the `nonce` of OpenID Connect. The default is none.
    /// - Throws: An ``OAuthError``.
    public func authorization(
        redirectURI: URL, scope: String? = nil, isPushed: Bool = false, resources: [URL] = [],
        parameters: [String: String] = [:]
    ) async throws(OAuthError) -> OAuthAuthorization {
        guard let endpoint = server.authorizationEndpoint else { throw .missingEndpoint("authorization_endpoint") }
        guard let origin = Origin(endpoint), origin.isSecure() else {
            throw .insecureURL(host: endpoint.host(percentEncoded: true) ?? "")
        }
        if let methods = server.codeChallengeMethods, !methods.contains("S256") {
            throw .invalidMetadata("The server doesn't support the method S256 of PKCE.")
        }
        guard redirectURI.scheme != nil, redirectURI.fragment == nil else {
            throw .invalidArgument("A redirect URI is absolute and has no fragment.")
        }
        if let origin = Origin(redirectURI), !origin.isSecure() { throw .insecureURL(host: origin.host) }
        let (verifier, state) = (CodeVerifier(), randomText(32))
        let resources = try Self.resources(resources)
        var form = [
            Parameter("response_type", "code"), Parameter("redirect_uri", redirectURI.absoluteString),
            Parameter("state", state), Parameter("code_challenge", try verifier.challenge),
            Parameter("code_challenge_method", "S256"),
        ]
        form += Parameter.optional("scope", scope) + resources
        // Binds the code to the key (RFC 9449, section 10).
        if let dpop { form.append(Parameter("dpop_jkt", try dpop.key.thumbprint)) }
        form = try Self.adding(parameters, to: form)
        if isPushed || server.requiresPushedAuthorizationRequests {
            form = [Parameter("request_uri", try await push(form))]
        }
        form.insert(Parameter("client_id", id), at: 0)
        guard var components = URLComponents(url: endpoint, resolvingAgainstBaseURL: true) else {
            throw .missingEndpoint("authorization_endpoint")
        }
        let query = components.percentEncodedQuery.map { $0.isEmpty ? "" : $0 + "&" } ?? ""
        components.percentEncodedQuery = query + FormText.encoded(form)
        guard let url = components.url else { throw .missingEndpoint("authorization_endpoint") }
        return OAuthAuthorization(
            url: url, redirectURI: redirectURI, client: self, state: state, verifier: verifier, resources: resources)
    }

    /// Sends an authorization request to the server and returns its URI (RFC 9126, section 2).
    private func push(_ form: [Parameter]) async throws(OAuthError) -> String {
        var form = form
        // Required even if the client authenticates in another way (RFC 9126, section 2.1).
        if case .basic = authentication.method { form.append(Parameter("client_id", id)) }
        let reply = try await post(
            form, to: "pushed_authorization_request_endpoint", server.pushedAuthorizationRequestEndpoint)
        guard reply.status == 201 || reply.status == 200 else { throw refusal(reply) }
        guard let uri = try reply.object().string("request_uri"), !uri.isEmpty else {
            throw .invalidResponse("It has no request_uri.")
        }
        return uri
    }
}
