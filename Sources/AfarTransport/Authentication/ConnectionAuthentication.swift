import HTTPTypes

/// Authentication that a transport carries out itself, in several messages over one connection, which belongs to the user
/// from then on (RFC 4559, section 6).
package struct ConnectionAuthentication: Sendable {
    /// Which messages are exchanged.
    package enum Scheme: String, Sendable {
        /// GSS-API, which means Kerberos here (RFC 4559), with the ticket that the process has.
        case negotiate
        /// Microsoft's, with a user name, `DOMAIN\user` say, and a password.
        case ntlm
    }

    package let scheme: Scheme
    package let user: String
    package let password: String

    package init(_ scheme: Scheme, user: String, password: String) {
        self.scheme = scheme
        self.user = user
        self.password = password
    }
}

extension ConnectionAuthentication: CustomStringConvertible, CustomReflectable {
    /// The scheme. Nothing of the credential stands in a description.
    package var description: String { scheme.rawValue }

    /// Nothing: what prints an exchange in full must not print a password.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Where a transport with ``TransportCapabilities/Features/connectionAuthentication`` finds how to authenticate; nil when it
/// is not to.
package enum ConnectionAuthenticationKey: ExchangeContextKey {
    package static let defaultValue: ConnectionAuthentication? = nil
}

/// Negotiate and NTLM, which are left to the transport.
struct ConnectionAuthenticationScheme: AuthenticationScheme {
    let scheme: ConnectionAuthentication.Scheme

    init(_ scheme: ConnectionAuthentication.Scheme) { self.scheme = scheme }

    func accepts(_ challenge: AuthenticationChallenge) -> Bool { challenge.scheme == scheme.rawValue }

    /// A ticket has a name of its own, which is not to be used in the stead of another that was given.
    func accepts(user: String, password: String) -> Bool {
        switch scheme {
        case .negotiate: user.isEmpty && password.isEmpty
        case .ntlm: !user.isEmpty
        }
    }

    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError) {
        try TransportError.checkControlCharacters(user: user, password: password, url: exchange.url)
        exchange.context[ConnectionAuthenticationKey.self] = ConnectionAuthentication(
            scheme, user: user, password: password)
        // The transport writes this header.
        exchange.request.headerFields[.authorization] = nil
        var fields = exchange.options.defaultFields.fields
        guard fields.contains(.authorization) else { return }
        fields[.authorization] = nil
        exchange.options.defaultFields = DefaultFields(fields)
    }
}
