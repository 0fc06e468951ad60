import AfarTransport
import CLibcurl

// Negotiate and NTLM: libcurl sends the request several times, each with its next message, until the server is content or
// gives up. Only the last response is the transfer's.
extension Transfer {
    /// The most requests that one authentication may take. Kerberos takes one or two, NTLM two; a server that always asks
    /// for one more is not followed for ever.
    private static let mostMessages = 8

    /// The 401 whose head has come is not the last word: the request goes out again. Returns whether it may.
    func resumeAuthentication() -> Bool {
        guard sendCount < Self.mostMessages else {
            state.fail(
                Fault(
                    .malformedResponse,
                    "the server has asked for more than \(Self.mostMessages) messages to authenticate one connection"))
            return false
        }
        refusal = nil
        reader = ResponseReader(url: exchange.responseURL, options: exchange.options)
        return true
    }
}

extension CurlOptions {
    /// Has libcurl authenticate by one scheme, on a connection that nobody else had or gets.
    ///
    /// libcurl leaves that connection open between the messages, whatever it is told, and closes it after the last response.
    func setAuthentication(_ authentication: ConnectionAuthentication) throws(Failure) {
        let scheme =
            switch authentication.scheme {
            case .negotiate: afar_auth_negotiate()
            case .ntlm: afar_auth_ntlm()
            }
        try set(CURLOPT_HTTPAUTH, scheme)
        try set(CURLOPT_USERNAME, authentication.user)
        try set(CURLOPT_PASSWORD, authentication.password)
        try set(CURLOPT_FRESH_CONNECT, 1)
        try set(CURLOPT_FORBID_REUSE, 1)
    }
}
