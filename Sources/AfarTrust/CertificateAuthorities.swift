package import Foundation

/// The certificates that a transport trusts. Their file is read when they are first needed, and then kept.
package final class CertificateAuthorities: @unchecked Sendable {
    // Sendable because what changes is behind the lock.
    private let file: URL?
    private let lock = NSLock()
    private var loaded: CertificateStore?

    /// - Parameter file: A file of PEM certificates; nil when there is none.
    package init(file: URL?) { self.file = file }

    func store() throws(CertificateError) -> CertificateStore {
        guard let file else { throw .noCertificateAuthorities("no file of them is known") }
        lock.lock()
        defer { lock.unlock() }
        if let loaded { return loaded }
        let store = try CertificateStore(file: file)
        loaded = store
        return store
    }
}
