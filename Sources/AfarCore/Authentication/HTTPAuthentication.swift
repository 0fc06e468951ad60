import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension Request {
    /// Sets the user name and password that answer a challenge (401) to this request. The credentials are used once per
    /// attempt.
    ///
    /// The credentials apply to the scheme, host and port of the request's own URL. After a redirect to another origin, they
    /// aren't used, even if a later redirect returns to the first origin. The credentials are sent only after a challenge. To
    /// send credentials with the first request, use ``HTTPHeader/authorization(username:password:)``.
    ///
    /// The request uses the first of these schemes that the server offers: Negotiate, Digest with SHA-256, Digest with MD5, NTLM,
    /// Basic (RFC 4559, RFC 7616, RFC 7617). Negotiate uses the process's Kerberos ticket and requires an empty user name and an
    /// empty password. Negotiate and NTLM require a transport with ``TransportCapabilities/Features/connectionAuthentication``.
    /// Basic doesn't encrypt the password, so use it over https. A request whose body stream can be read only once isn't sent
    /// again: the 401 is its final response.
    ///
    /// Call this before the request starts. A later call replaces the credential.
    ///
    /// - Parameters:
    ///   - username: The user name. Basic doesn't support a name with a colon, and no scheme supports control characters. With an
    ///     unsupported name, the request fails when the server sends a challenge.
    ///   - password: The password.
    ///   - persistence: Unused, because the credential is used only for this request and isn't stored. To set credentials for a
    ///     whole session, use ``SessionConfiguration/credentialProvider``.
    @discardableResult
    public func authenticate(
        username: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
    }

    /// Sets the credential that answers a challenge (401) to this request. See ``authenticate(username:password:persistence:)``.
    ///
    /// - Parameter credential: A user name and a password. Other kinds of credentials are ignored.
    @discardableResult
    public func authenticate(with credential: URLCredential) -> Self {
        mutable.withLock { $0.settings.credential = credential }
        return self
    }

    /// The credential that answers a challenge to this request, if one is set.
    public var credential: URLCredential? { mutable.withLock { $0.settings.credential } }

    /// A handler that calls the delegate's closure for challenges, or nil if the session's delegate has no such closure.
    var challengeHandler: ChallengeHandler? {
        guard session.delegate.handlesChallenges else { return nil }
        return { [self] head, challenge, ownCredential in
            // Don't propose a credential after a redirect to another origin.
            let proposed = ownCredential == nil ? nil : credential
            let foundationChallenge = URLAuthenticationChallenge(challenge, in: head, proposing: proposed, failures: 0)
            guard let foundationChallenge,
                let (disposition, answer) = await session.delegate.respond(to: foundationChallenge, of: self)
            else {
                return .standard
            }
            return switch disposition {
            case .useCredential: ChallengeAnswer(answer?.isServerTrust == true ? nil : answer)
            case .performDefaultHandling: .standard
            case .cancelAuthenticationChallenge: .cancel
            default: .reject
            }
        }
    }
}

extension ChallengeAnswer {
    fileprivate init(_ credential: URLCredential?) {
        if let user = credential?.user, let password = credential?.password {
            self = .credential(user: user, password: password)
        } else {
            self = .none
        }
    }
}

extension Credential {
    /// Creates a credential for the origin of a request. Returns nil if the credential isn't a user name and a password.
    init?(_ credential: URLCredential, for request: HTTPRequest) {
        guard let user = credential.user, let password = credential.password else { return nil }
        self.init(user: user, password: password, origin: Origin(request))
    }
}

extension AuthenticationStage {
    /// Creates the stage for a session. The stage uses the session's credential provider.
    init(_ configuration: SessionConfiguration, over transport: any Transport) {
        let features = transport.capabilities.features
        guard let provider = configuration.credentialProvider else {
            self.init(configuration.authenticationSchemes, features: features)
            return
        }
        self.init(configuration.authenticationSchemes, features: features) { url, challenge in
            guard let space = URL(keepingEscapesOf: url).flatMap({ URLProtectionSpace(challenge, of: $0) }),
                let credential = try await provider.credential(for: space), let user = credential.user,
                let password = credential.password
            else { return nil }
            return (user, password)
        }
    }
}

/// A type that provides the credentials for challenges (401) to a session's requests, for example from a keychain, a settings
/// file, or a prompt.
///
/// ```swift
/// struct VaultCredentials: CredentialProvider {
///     func credential(for space: URLProtectionSpace) async throws -> URLCredential? {
///         guard space.protocol == "https", space.host == "vault.example.com" else { return nil }
///         return URLCredential(user: "ada", password: try await readPassword(), persistence: .none)
///     }
/// }
/// var configuration = SessionConfiguration.default
/// configuration.credentialProvider = VaultCredentials()
/// ```
///
/// The provider is called when a server responds with a challenge and the request has no credential of its own for that origin
/// (``Request/authenticate(username:password:persistence:)``). If the session's delegate has a closure for challenges, the
/// provider is called only if the closure chooses the default handling. If the server offers several schemes, the provider is
/// called for each scheme until it returns a credential. The order is Negotiate, Digest with SHA-256, Digest with MD5, NTLM,
/// Basic. Negotiate and NTLM are offered only by transports with ``TransportCapabilities/Features/connectionAuthentication``.
///
/// The protection space contains the host and the port of the server that sent the challenge. That server can be the target of a
/// redirect, so **check the host before you return a credential**. If the server refuses the credential, its response is final. The
/// provider is called again for each attempt and for each redirect.
public protocol CredentialProvider: Sendable {
    /// Returns the credential for a protection space (RFC 9110, section 11.5).
    ///
    /// - Parameter space: The server's scheme, host and port, its realm, and the authentication scheme as one of Foundation's
    ///   `NSURLAuthenticationMethod…` constants.
    /// - Returns: A user name and a password, or nil to use the next offered scheme. If nil is returned for the last scheme, the
    ///   challenge is the final response. For Negotiate, return an empty name and an empty password, because it uses the
    ///   process's Kerberos ticket.
    /// - Throws: Any error. The request then fails with a ``TransportError`` that has this error as its underlying error and the
    ///   code ``TransportError/Code-swift.struct/invalidCredential``.
    func credential(for space: URLProtectionSpace) async throws -> URLCredential?
}

/// A provider that returns the default credential of a `URLCredentialStorage` for a protection space, as `URLSession` does.
///
/// A protection space is specific to a host, port, realm and authentication method. For example, a credential for Digest must be
/// stored for `NSURLAuthenticationMethodHTTPDigest`. On Linux, Foundation stores credentials in memory until the process exits.
public struct URLCredentialStorageProvider: CredentialProvider {
    /// The storage of the credentials.
    public let storage: URLCredentialStorage

    /// Creates a provider.
    ///
    /// - Parameter storage: The storage of the credentials. The default is the shared storage.
    public init(_ storage: URLCredentialStorage = .shared) {
        self.storage = storage
    }

    /// Returns the storage's default credential for the space.
    public func credential(for space: URLProtectionSpace) async -> URLCredential? {
        if let credential = storage.defaultCredential(for: space) { return credential }
        // On Linux, the storage finds a space only by object identity.
        return storage.allCredentials.keys.lazy.filter { $0.isSame(as: space) }
            .compactMap { storage.defaultCredential(for: $0) }.first
    }
}

extension URLProtectionSpace {
    fileprivate func isSame(as other: URLProtectionSpace) -> Bool {
        host == other.host && port == other.port && `protocol` == other.protocol && realm == other.realm
            && authenticationMethod == other.authenticationMethod && isProxy() == other.isProxy()
    }
}

extension URLAuthenticationChallenge {
    /// Creates a Foundation challenge from a server's challenge.
    convenience init?(
        _ challenge: AuthenticationChallenge, in head: ResponseHead, proposing credential: URLCredential?, failures: Int
    ) {
        guard let response = head.httpURLResponse, let url = response.url,
            let space = URLProtectionSpace(challenge, of: url)
        else { return nil }
        self.init(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: failures,
            failureResponse: response, error: nil, sender: NullChallengeSender())
    }
}

extension URLProtectionSpace {
    /// Creates the protection space of a challenge to a request for this URL. Fails if the URL has no host.
    convenience init?(_ challenge: AuthenticationChallenge, of url: URL) {
        guard let host = url.host() else { return nil }
        self.init(
            host: host, port: url.port ?? (url.scheme == "https" ? 443 : 80), protocol: url.scheme,
            realm: challenge.parameters["realm"], authenticationMethod: challenge.foundationMethod)
    }
}

extension AuthenticationChallenge {
    /// Foundation's constant for the scheme.
    fileprivate var foundationMethod: String {
        switch scheme {
        case "basic": NSURLAuthenticationMethodHTTPBasic
        case "digest": NSURLAuthenticationMethodHTTPDigest
        case "ntlm": NSURLAuthenticationMethodNTLM
        case "negotiate": NSURLAuthenticationMethodNegotiate
        default: NSURLAuthenticationMethodDefault
        }
    }
}

/// A placeholder for a challenge's required sender. The sender does nothing, because the challenge handler returns the answers.
final class NullChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
