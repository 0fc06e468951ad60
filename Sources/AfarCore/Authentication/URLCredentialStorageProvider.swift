#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

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
