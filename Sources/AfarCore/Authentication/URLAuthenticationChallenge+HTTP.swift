import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLAuthenticationChallenge {
    /// A server's challenge in Foundation's shape.
    ///
    /// - Parameters:
    ///   - credential: What is there to answer it with.
    ///   - failures: How many answers were given before in vain.
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
    /// What a challenge is about that a server has answered a request for this URL with; nil when the URL has no host.
    convenience init?(_ challenge: AuthenticationChallenge, of url: URL) {
        guard let host = url.host() else { return nil }
        self.init(
            host: host, port: url.port ?? (url.scheme == "https" ? 443 : 80), protocol: url.scheme,
            realm: challenge.parameters["realm"], authenticationMethod: challenge.foundationMethod)
    }
}

extension AuthenticationChallenge {
    /// What Foundation calls the scheme.
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

/// Stands where a challenge has its sender. Answers go to whoever asks, not to it.
final class NullChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
