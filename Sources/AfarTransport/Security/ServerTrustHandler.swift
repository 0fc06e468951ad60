package import AfarTrust

/// What is done about a server's certificates.
package enum ServerTrustAnswer: Sendable {
    /// They are evaluated as they would be if nobody had been asked.
    case evaluate
    case trust
    case refuse
    /// The exchange is ended.
    case cancel
}

/// Where an exchange has who is asked about servers' certificates, before they are evaluated; nil when nobody is.
package enum ServerTrustHandlerKey: ExchangeContextKey {
    /// It gets the connection's port, too.
    package typealias Handler = @Sendable (ServerTrust, _ port: Int) async -> ServerTrustAnswer

    package static let defaultValue: Handler? = nil
}
