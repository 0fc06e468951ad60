/// What requests are authenticated with: an access token with its refresh token, say.
public protocol AuthenticationCredential {
    /// Whether the credential is to be refreshed before another request is sent with it: it has expired, or is about to.
    ///
    /// False for one whose end cannot be foreseen: that is found out when a server refuses it.
    var requiresRefresh: Bool { get }
}
