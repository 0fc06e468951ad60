import AfarTransport
import AfarTrust
import COpenSSL
import Foundation

/// The TLS state that a transport's connections share: the certificate authorities, and the settings as an OpenSSL object. The
/// object is created on first use.
final class TLSContext: Sendable {
    /// The owner of an `SSL_CTX`, which doesn't change after its creation.
    private final class Owner: @unchecked Sendable {
        // Sendable because OpenSSL counts the object's references atomically.
        let raw: OpaquePointer

        init(_ settings: TLSSettings) throws(Fault) {
            guard let raw = SSL_CTX_new(TLS_client_method()) else { throw .outOfMemory }
            self.raw = raw
            defer { ERR_clear_error() }
            if let list = settings.cipherList, SSL_CTX_set_cipher_list(raw, list) != 1 {
                throw Fault(
                    .secureConnectionFailed, "OpenSSL does not accept the list of ciphers for TLS 1.2: \"\(list)\"")
            }
            if let list = settings.tls13CipherSuites, SSL_CTX_set_ciphersuites(raw, list) != 1 {
                throw Fault(
                    .secureConnectionFailed, "OpenSSL does not accept the list of suites for TLS 1.3: \"\(list)\"")
            }
            afar_set_up_client(raw)
            if let keyLog = settings.keyLog { afar_log_keys(raw, keyLog.descriptor) }
            afar_set_validation(
                raw,
                { context, _ in
                    guard let context, let stream = TLSStream.validating(context) else { return 0 }
                    return stream.validate(context) ? 1 : 0
                }, nil)
            SSL_CTX_sess_set_new_cb(raw) { ssl, session in
                guard let ssl, let session, let stream = TLSStream.of(ssl) else { return 0 }
                stream.receiveSession(session)
                return 1
            }
        }

        deinit { SSL_CTX_free(raw) }
    }

    let settings: TLSSettings
    private let created = Locked<Result<Owner, Fault>?>(nil)

    init(_ settings: TLSSettings) { self.settings = settings }

    /// Loads the settings and the certificate authorities. Call this method before the first connection, but not on a loop's
    /// thread, because reading the certificate authorities takes a long time.
    ///
    /// - Parameter isEvaluated: Whether an evaluator validates the certificates.
    func prepare(isEvaluated: Bool) throws(Fault) {
        try settings.check()
        _ = try owner()
        if !isEvaluated { _ = try authorities() }
    }

    func makeConnection() throws(Fault) -> OpaquePointer {
        guard let ssl = SSL_new(try owner().raw) else { throw .outOfMemory }
        return ssl
    }

    func authorities() throws(Fault) -> CertificateStore {
        do throws(CertificateError) {
            return try settings.authorities.store()
        } catch {
            throw Fault(.secureConnectionFailed, error.description)
        }
    }

    private func owner() throws(Fault) -> Owner {
        try created.withLock { [settings] created in
            let result = created ?? Result { () throws(Fault) in try Owner(settings) }
            created = result
            return result
        }.get()
    }
}

extension Fault {
    static let outOfMemory = Fault(.outOfResources, "OpenSSL ran out of memory")
}
