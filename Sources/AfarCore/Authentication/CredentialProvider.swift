#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Gives a session's requests the credentials with which they answer challenges (401): from a keychain, a settings file, a
/// person who is asked.
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
/// It is asked when a server has answered with a challenge, the request has no credential of its own for that origin
/// (``Request/authenticate(username:password:persistence:)``), and the session's delegate, if it has a closure for challenges,
/// leaves it to the default. Where a server offers several schemes it is asked about each, the strongest first, until it
/// gives a credential: Negotiate, Digest with SHA-256, Digest with MD5, NTLM, Basic. Negotiate and NTLM only come over a
/// transport that has ``TransportCapabilities/Features/connectionAuthentication``.
///
/// The space's host and port are those that sent the challenge, after a redirect too, so **look at the host before you give a
/// credential away**. When the server refuses it, its answer is the final response: the provider is asked once for each
/// attempt, and for each hop that a redirect leads to.
public protocol CredentialProvider: Sendable {
    /// The credential for a protection space (RFC 9110, section 11.5).
    ///
    /// - Parameter space: The scheme, host and port of the server, the realm that it names, and the authentication scheme as
    ///   one of Foundation's `NSURLAuthenticationMethod…`.
    /// - Returns: A user name and a password; an empty user name and an empty password for Negotiate, which takes the ticket
    ///   that the process has. Nil if there is none: then the challenge is the final response, unless there is another.
    /// - Throws: Any error. It fails the request, as the cause of a ``TransportError`` of code
    ///   ``TransportError/Code-swift.struct/invalidCredential``.
    func credential(for space: URLProtectionSpace) async throws -> URLCredential?
}

/// Gives the credentials that a `URLCredentialStorage` has as the default for a protection space, as `URLSession` does.
///
/// A space there is for one host, port, realm and authentication method: a credential that is to answer Digest must be stored
/// for `NSURLAuthenticationMethodHTTPDigest`. On Linux Foundation keeps what is stored in memory, until the process ends.
public struct URLCredentialStorageProvider: CredentialProvider {
    /// Where the credentials are.
    public let storage: URLCredentialStorage

    /// Makes a provider.
    ///
    /// - Parameter storage: Where the credentials are. The default is the one that all of the process shares.
    public init(_ storage: URLCredentialStorage = .shared) {
        self.storage = storage
    }

    /// The storage's default credential for the space.
    public func credential(for space: URLProtectionSpace) async -> URLCredential? {
        if let credential = storage.defaultCredential(for: space) { return credential }
        // On Linux the storage finds a space only by the very object with which it was stored.
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
