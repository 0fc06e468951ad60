import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLAuthenticationChallenge {
    /// Creates Foundation's form of a server's challenge.
    ///
    /// - Parameters:
    ///   - credential: The proposed credential.
    ///   - failures: The number of previous failed answers.
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
    /// Creates the protection space of a challenge to a request for this URL. Returns nil if the URL has no host.
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

/// A placeholder for a challenge's required sender. It does nothing, because answers are returned from the handler.
final class NullChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
