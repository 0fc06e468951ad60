extension HTTPHeaders {
    /// Refuses headers that cannot be sent as they are.
    ///
    /// Foundation's `URLRequest` drops such a header without a word, so this must come before they are put into one.
    ///
    /// - Throws: `AFError.urlRequestValidationFailed` with `invalidHeaderName` or `invalidHeaderValue`;
    ///   `sessionTaskFailed` for what ``HTTPHeader/authorization(username:password:)`` could not write.
    package func validate() throws {
        for header in self { try header.validate() }
    }
}

extension HTTPHeader {
    /// Refuses a name that is no token, a value with control characters other than the tab, and Basic credentials that
    /// could not be written.
    package func validate() throws {
        guard name.isHTTPToken else {
            throw AFError.urlRequestValidationFailed(reason: .invalidHeaderName(name))
        }
        guard value.allBytes({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw AFError.urlRequestValidationFailed(reason: .invalidHeaderValue(name: name))
        }
        guard value == BasicAuthentication.withoutCredentials, name.asciiLowercased == "authorization" else { return }
        let refusal = TransportError.invalidCredential(
            "the user name has a colon or control characters, or the password has control characters", url: nil)
        throw AFError.sessionTaskFailed(error: refusal.urlError)
    }
}

extension HTTPMethod {
    /// Refuses a method that is no token.
    package func validate() throws {
        guard rawValue.isHTTPToken else {
            throw AFError.urlRequestValidationFailed(reason: .invalidMethod(rawValue))
        }
    }
}
