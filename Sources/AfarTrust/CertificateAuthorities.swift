package import Foundation

/// The certificates that a transport trusts. Their file is read when they are first needed, and then kept.
package final class CertificateAuthorities: Sendable {
    private let file: URL?
    private let loaded = Once<Result<CertificateStore, CertificateError>>()

    /// - Parameter file: A file of PEM certificates; nil when there is none.
    package init(file: URL?) { self.file = file }

    func store() throws(CertificateError) -> CertificateStore {
        try loaded.value { [file] in
            Result { () throws(CertificateError) in
                guard let file else { throw .noCertificateAuthorities("no file of them is known") }
                return try CertificateStore(file: file)
            }
        }.get()
    }
}

/// A value that is made when it is first asked for.
private final class Once<Value: Sendable>: @unchecked Sendable {
    // Sendable because the value is behind the lock.
    private let lock = NSLock()
    private var made: Value?

    func value(_ make: () -> Value) -> Value {
        lock.withLock {
            if let made { return made }
            let value = make()
            made = value
            return value
        }
    }
}
