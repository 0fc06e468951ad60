import AfarTransport

/// A note for users whose credentials the server didn't ask for.
///
/// Without `--auth basic`, the credentials of `--user` only answer a challenge (401). Some servers return 403 or 404 instead.
enum UnsentCredentials {
    private static let wereRequested = Locked(false)

    /// Records that the server has asked for the credentials.
    static func noteRequest() { wereRequested.withLock { $0 = true } }

    /// Prints the note if the final status can mean that credentials are missing.
    static func report(_ security: SecurityOptions, status: Int) {
        guard status == 403 || status == 404, security.user != nil, security.auth == nil,
            !wereRequested.withLock({ $0 })
        else { return }
        Messages.note(
            "The server didn't ask for the credentials of --user, so they were not sent. To send them with the first request, "
                + "add --auth basic")
    }
}
