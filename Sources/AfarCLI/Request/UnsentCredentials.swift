import AfarStages
import AfarTransport
import HTTPTypes

/// Notes for users whose credentials weren't used.
///
/// Without `--auth basic`, the credentials of `--user` only answer a challenge (401). Some servers return 403 or 404 instead, or require
/// another authentication scheme.
enum UnsentCredentials {
    private static let wereRequested = Locked(false)

    /// Records that the server has asked for the credentials.
    static func noteRequest() { wereRequested.withLock { $0 = true } }

    /// Prints a note if the final response can mean that credentials are missing.
    static func report(_ security: SecurityOptions, _ head: ResponseHead) {
        report(security, status: head.status, challenges: head.values(for: .wwwAuthenticate))
    }

    /// Prints a note if the final status can mean that credentials are missing.
    ///
    /// - Parameter challenges: The values of `WWW-Authenticate`; nil if they are unknown.
    static func report(_ security: SecurityOptions, status: Int, challenges: [String]? = nil) {
        let wereRequested = wereRequested.withLock { $0 }
        let note = note(security, status: status, challenges: challenges, wereRequested: wereRequested)
        if let note { Messages.note(note) }
    }

    /// Returns the note, if any.
    ///
    /// - Parameters:
    ///   - challenges: The values of `WWW-Authenticate`; nil if they are unknown.
    ///   - wereRequested: Whether the server has asked for the credentials.
    static func note(
        _ security: SecurityOptions, status: Int, challenges: [String]?, wereRequested: Bool
    ) -> String? {
        guard security.user != nil else { return nil }
        if status == 401, challenges == nil { return nil }
        let offered = AuthenticationChallenge.challenges(in: challenges ?? []).map(\.scheme)
        if status == 401, !offered.isEmpty {
            let usable = security.auth.map { [$0] } ?? [.basic, .digest, .ntlm]
            guard usable.allSatisfy({ !offered.contains($0.rawValue) }) else { return nil }
            let choice = security.auth.map { " with --auth \($0.rawValue)" } ?? ""
            let schemes = offered.prefix(3).map { $0.prefix(30) }.joined(separator: " or ")
            return "The server requires the authentication scheme \(schemes), which --user\(choice) doesn't provide."
                + (offered.contains("bearer") ? " For a token, use --bearer" : "")
        }
        guard [401, 403, 404].contains(status), security.auth == nil, !wereRequested else { return nil }
        return
            "The server didn't ask for the credentials of --user, so they were not sent. To send them with the first request, "
            + "add --auth basic"
    }
}
