import Afar
import Foundation

extension SecurityOptions {
    /// Whether the options select credentials.
    var hasCredential: Bool { user != nil || auth != nil || bearer != nil || netrc || netrcFile != nil }

    /// The credential to keep in a session, if any. A password from the environment and a token from a file aren't kept.
    var storedCredential: StoredSession.Credential? {
        guard user != nil || auth != nil || bearer != nil else { return nil }
        return StoredSession.Credential(
            user: user, auth: auth?.rawValue,
            bearer: bearer.map { $0.hasPrefix("@") ? "@" + URL(filePath: String($0.dropFirst())).path : $0 })
    }

    /// Uses the credential of a session.
    mutating func use(_ credential: StoredSession.Credential) throws {
        if let name = credential.auth {
            guard let scheme = CredentialScheme(rawValue: name) else {
                throw Failure(.usage, "The session's authentication scheme isn't supported. Choose another session.")
            }
            auth = scheme
        }
        (user, bearer) = (credential.user, credential.bearer)
        try validate()
    }
}

extension RequestPlan {
    /// The headers with the cookies of the named session.
    var headersWithCookies: HTTPHeaders {
        let own = (headers["Cookie"] ?? "").split(separator: ";").map { pair in
            pair.contains("=") ? pair.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces) : ""
        }
        guard !removes("Cookie"), let field = session?.cookieField(for: url, except: own) else { return headers }
        var headers = headers
        headers.add(name: "Cookie", value: headers["Cookie"].map { "\($0); \(field)" } ?? field)
        return headers
    }
}
