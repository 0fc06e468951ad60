import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension Request {
    /// Gives the user name and password with which a challenge (401) to this request is answered, once in each attempt.
    ///
    /// They are for the scheme, host and port of the request's own URL. A redirect that leads elsewhere leaves them
    /// behind, even if another leads back. Nothing is sent before the server asks; a header made by
    /// ``HTTPHeader/authorization(username:password:)`` goes with the first request already.
    ///
    /// Of the schemes that the server offers the strongest is taken: Negotiate, Digest with SHA-256, Digest with MD5, NTLM,
    /// Basic (RFC 4559, RFC 7616, RFC 7617). Negotiate takes the Kerberos ticket that the process has, and is for an empty user
    /// name with an empty password only; it and NTLM need a transport with
    /// ``TransportCapabilities/Features/connectionAuthentication``. Basic sends the password readably, so use it over https.
    /// A request whose body is a stream that can be read once is not sent again: the 401 is its final response.
    ///
    /// Call it before the request starts. Only the last credential given counts.
    ///
    /// - Parameters:
    ///   - username: The user's name. Basic cannot carry one with a colon, and no scheme control characters: these fail the
    ///     request when the server asks.
    ///   - password: The password.
    ///   - persistence: Has no effect: the credential is this request's and nobody else's, and is stored nowhere. For a whole
    ///     session there is ``SessionConfiguration/credentialProvider``.
    @discardableResult
    public func authenticate(
        username: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
    }

    /// Gives the credential with which a challenge (401) to this request is answered, as
    /// ``authenticate(username:password:persistence:)`` does.
    ///
    /// - Parameter credential: A user name and a password. One of another kind answers nothing.
    @discardableResult
    public func authenticate(with credential: URLCredential) -> Self {
        mutable.withLock { $0.settings.credential = credential }
        return self
    }

    /// Does what ``authenticate(username:password:persistence:)`` does.
    @discardableResult
    public func authenticate(
        user: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(username: user, password: password, persistence: persistence)
    }

    /// Does what ``authenticate(with:)`` does.
    @discardableResult
    public func authenticate(usingCredential credential: URLCredential) -> Self { authenticate(with: credential) }

    /// What a challenge to this request is answered with; nil when it is not.
    public var credential: URLCredential? { mutable.withLock { $0.settings.credential } }

    /// Who is asked about challenges; nil when the credential decides alone.
    var challengeHandler: ChallengeHandler? {
        guard session.delegate.decidesAboutChallenges else { return nil }
        return { [self] head, challenge, own in
            // After a redirect elsewhere there is nothing to propose.
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
    /// A credential for the origin of a request; nil when it is none of user name and password.
    init?(_ credential: URLCredential, for request: HTTPRequest) {
        guard let user = credential.user, let password = credential.password else { return nil }
        self.init(user: user, password: password, origin: Origin(request))
    }
}

extension AuthenticationStage {
    /// The stage of a session, which asks its provider.
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
