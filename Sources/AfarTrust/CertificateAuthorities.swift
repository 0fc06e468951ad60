package import Foundation

/// The certificates that a transport trusts. Their file is read when they are first needed, and then kept.
package final class CertificateAuthorities: @unchecked Sendable {
    // Sendable because what changes is behind the lock.
    /// The file of PEM certificates, if any.
    package let file: URL?
    /// Whether certificates must follow RFC 5280 to the letter (`X509_V_FLAG_X509_STRICT`).
    package let areStrict: Bool
    private let lock = NSLock()
    private var loaded: CertificateStore?

    /// - Parameters:
    ///   - file: A file of PEM certificates; nil for none.
    ///   - areStrict: Whether certificates must follow RFC 5280 to the letter.
    package init(file: URL?, areStrict: Bool = false) {
        self.file = file
        self.areStrict = areStrict
    }

    /// The operating system's file of trusted certificates; nil if it is in none of the usual places.
    package static let systemFile: URL? =
        [
            // Debian and Alpine, Fedora and Amazon Linux, SUSE, macOS.
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ].first { FileManager.default.isReadableFile(atPath: $0) }.map { URL(filePath: $0) }

    package func store() throws(CertificateError) -> CertificateStore {
        guard let file else { throw .noCertificateAuthorities("no file of them is known") }
        lock.lock()
        defer { lock.unlock() }
        if let loaded { return loaded }
        let store = try CertificateStore(file: file)
        loaded = store
        return store
    }
}
