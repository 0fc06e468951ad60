#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A type that provides the credentials with which a session's requests answer challenges (401), for example from a keychain, a
/// settings file, or a prompt.
///
/// ```swift
/// struct VaultCredentials: CredentialProvider {
///     func credential(for space: URLProtectionSpace) async throws -> URLCredential? {
///         guard space.protocol == "https", space.host == "vault.example.com" else { return nil }
///         return URLCredential(user: "ada", password: try await readPassword(), persistence: .none)
///     }
/// }
/// var configuration = SessionConfiguration.default
/// configuration.credentialProvider = VaultCredentials()
/// ```
///
/// The provider is called when a server responds with a challenge, the request has no credential of its own for that origin
/// (``Request/authenticate(username:password:persistence:)``), and the session's delegate has no closure for challenges or
/// chooses the default handling. If the server offers several schemes, the provider is called for each, the strongest first,
/// until it returns a credential: Negotiate, Digest with SHA-256, Digest with MD5, NTLM, Basic. Negotiate and NTLM are offered
/// only by transports with ``TransportCapabilities/Features/connectionAuthentication``.
///
/// The space's host and port are those of the server that sent the challenge, which can be the target of a redirect, so **check
/// the host before you return a credential**. If the server refuses the credential, its response is final. The provider is called
/// once per attempt and once per redirect hop.
public protocol CredentialProvider: Sendable {
    /// Returns the credential for a protection space (RFC 9110, section 11.5).
    ///
    /// - Parameter space: The server's scheme, host and port, its realm, and the authentication scheme as one of Foundation's
    ///   `NSURLAuthenticationMethod…` constants.
    /// - Returns: A user name and a password. For Negotiate, which uses the process's Kerberos ticket, both are empty. If nil,
    ///   the next offered scheme is tried; if there is no other, the challenge is the final response.
    /// - Throws: Any error. It fails the request as the cause of a ``TransportError`` with the code
    ///   ``TransportError/Code-swift.struct/invalidCredential``.
    func credential(for space: URLProtectionSpace) async throws -> URLCredential?
}

/// A provider that returns the default credential of a `URLCredentialStorage` for a protection space, as `URLSession` does.
///
/// A protection space is specific to a host, port, realm and authentication method: a credential for Digest must be stored for
/// `NSURLAuthenticationMethodHTTPDigest`. On Linux, Foundation stores credentials in memory until the process exits.
public struct URLCredentialStorageProvider: CredentialProvider {
    /// The storage of the credentials.
    public let storage: URLCredentialStorage

    /// Creates a provider.
    ///
    /// - Parameter storage: The storage of the credentials. The default is the shared storage.
    public init(_ storage: URLCredentialStorage = .shared) {
        self.storage = storage
    }

    /// Returns the storage's default credential for the space.
    public func credential(for space: URLProtectionSpace) async -> URLCredential? {
        if let credential = storage.defaultCredential(for: space) { return credential }
        // On Linux, the storage finds a space only by the identical object with which the credential was stored.
        return storage.allCredentials.keys.lazy.filter { $0.isSame(as: space) }
            .compactMap { storage.defaultCredential(for: $0) }.first
    }
}

extension URLProtectionSpace {
    fileprivate func isSame(as other: URLProtectionSpace) -> Bool {
        host == other.host && port == other.port && `protocol` == other.protocol && realm == other.realm
            && authenticationMethod == other.authenticationMethod && isProxy() == other.isProxy()
    }
}
