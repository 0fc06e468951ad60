import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension Request {
    /// Sets the user name and password that answer a challenge (401) to this request, once per attempt.
    ///
    /// They apply to the scheme, host and port of the request's own URL. A redirect to another origin drops them, even if a later
    /// redirect leads back. Nothing is sent until the server sends a challenge; to send credentials with the first request, use
    /// ``HTTPHeader/authorization(username:password:)``.
    ///
    /// The strongest scheme that the server offers is used: Negotiate, Digest with SHA-256, Digest with MD5, NTLM, Basic (RFC
    /// 4559, RFC 7616, RFC 7617). Negotiate uses the process's Kerberos ticket and requires an empty user name and an empty
    /// password. Negotiate and NTLM require a transport with ``TransportCapabilities/Features/connectionAuthentication``. Basic
    /// doesn't encrypt the password, so use it over https. If the request's body is a stream that can be read only once, the
    /// request isn't sent again and the 401 is its final response.
    ///
    /// Call this before the request starts. A later call replaces the credential.
    ///
    /// - Parameters:
    ///   - username: The user name. Basic can't carry a name with a colon, and no scheme can carry control characters: these fail
    ///     the request when the server sends a challenge.
    ///   - password: The password.
    ///   - persistence: Has no effect: the credential is used only for this request and isn't stored. To set credentials for a
    ///     whole session, use ``SessionConfiguration/credentialProvider``.
    @discardableResult
    public func authenticate(
        username: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
    }

    /// Sets the credential that answers a challenge (401) to this request, as ``authenticate(username:password:persistence:)``
    /// does.
    ///
    /// - Parameter credential: A user name and a password. Other kinds of credentials are ignored.
    @discardableResult
    public func authenticate(with credential: URLCredential) -> Self {
        mutable.withLock { $0.settings.credential = credential }
        return self
    }

    /// Calls ``authenticate(username:password:persistence:)``.
    @discardableResult
    public func authenticate(
        user: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(username: user, password: password, persistence: persistence)
    }

    /// Calls ``authenticate(with:)``.
    @discardableResult
    public func authenticate(usingCredential credential: URLCredential) -> Self { authenticate(with: credential) }

    /// The credential that answers a challenge to this request, if one is set.
    public var credential: URLCredential? { mutable.withLock { $0.settings.credential } }

    /// The handler for challenges; nil if the session's delegate has no closure for them and the credential alone decides.
    var challengeHandler: ChallengeHandler? {
        guard session.delegate.decidesAboutChallenges else { return nil }
        return { [self] head, challenge, own in
            // After a redirect to another origin, no credential is proposed.
            let proposed = own == nil ? nil : credential
            let known = URLAuthenticationChallenge(challenge, in: head, proposing: proposed, failures: 0)
            guard let known, let (disposition, answer) = await session.delegate.answer(to: known, of: self) else {
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
    /// Creates a credential for the origin of a request. Returns nil if it isn't a user name and password.
    init?(_ credential: URLCredential, for request: HTTPRequest) {
        guard let user = credential.user, let password = credential.password else { return nil }
        self.init(user: user, password: password, origin: Origin(request))
    }
}

extension AuthenticationStage {
    /// Creates the stage for a session, which uses the session's credential provider.
    init(_ configuration: SessionConfiguration, over transport: any Transport) {
        let features = transport.capabilities.features
        guard let provider = configuration.credentialProvider else {
            self.init(features: features)
            return
        }
        self.init(features: features) { url, challenge in
            guard let space = URL(keepingEscapesOf: url).flatMap({ URLProtectionSpace(challenge, of: $0) }),
                let credential = try await provider.credential(for: space), let user = credential.user,
                let password = credential.password
            else { return nil }
            return (user, password)
        }
    }
}
