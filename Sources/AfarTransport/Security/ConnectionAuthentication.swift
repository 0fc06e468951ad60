/// Authentication that a transport performs itself by exchanging several messages over one connection. From then on the
/// connection belongs to that user (RFC 4559, section 6).
///
/// It is a class because options are copied often.
package final class ConnectionAuthentication: Sendable {
    /// The authentication protocol.
    package enum Scheme: String, Sendable {
        /// GSS-API (RFC 4559), in practice Kerberos, with the process's ticket.
        case negotiate
        /// Microsoft's NTLM, with a user name such as `DOMAIN\user` and a password.
        case ntlm
    }

    package let scheme: Scheme
    package let user: String
    package let password: String
    /// The origin that the credential is for.
    package let origin: Origin

    package init(_ scheme: Scheme, user: String, password: String, origin: Origin) {
        self.scheme = scheme
        self.user = user
        self.password = password
        self.origin = origin
    }
}

extension ConnectionAuthentication: CustomStringConvertible, CustomReflectable {
    /// The scheme. A description never contains the credential.
    package var description: String { scheme.rawValue }

    /// Empty, so that printing an exchange doesn't print a password.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
