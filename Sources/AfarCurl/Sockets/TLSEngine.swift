import AfarTransport
import AfarTrust
import Foundation

#if canImport(COpenSSL)
    import COpenSSL

    /// The client's side of TLS, between bytes from the network and bytes for it: it has no socket and waits for nothing.
    /// One thread at a time may use it.
    final class TLSEngine {
        enum Progress {
            case isDone
            case needsInput
            /// The server wants to know who the client is, and nobody has decided on the server yet.
            case needsDecision
        }

        /// What OpenSSL says to a failure.
        struct Failure: Error {
            let message: String
        }

        private let ssl: OpaquePointer
        private let settings: OpaquePointer
        private let (input, output): (OpaquePointer, OpaquePointer)
        private let identity: ClientIdentity?
        /// Whether the server is the right one, so that it may learn who the client is.
        private var isServerAccepted = false

        init(_ target: ConnectionTarget, _ tls: TLSSettings) throws {
            guard let settings = SSL_CTX_new(TLS_client_method()) else { throw Failure(message: "memory ran out") }
            self.settings = settings
            guard let ssl = SSL_new(settings), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
            else {
                SSL_CTX_free(settings)
                throw Failure(message: "memory ran out")
            }
            (self.ssl, self.input, self.output) = (ssl, input, output)
            identity = target.options.security?.identity
            SSL_set_bio(ssl, input, output)
            SSL_set_connect_state(ssl)
            try tls.apply(to: settings, ssl, target.options.minimumTLSVersion)
            SSL_set_verify(ssl, SSL_VERIFY_NONE, nil)
            let name = HostName(target.host).text
            if !name.isAddress, afar_set_server_name(ssl, name) == 0 { throw Failure(message: "the host's name") }
            let protocols = target.applicationProtocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            if !protocols.isEmpty, SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count)) != 0 {
                throw Failure(message: "the protocols to offer")
            }
            SSL_set_cert_cb(
                ssl,
                { _, context in
                    context.map { Unmanaged<TLSEngine>.fromOpaque($0).takeUnretainedValue().sayWhoTheClientIs() } ?? 0
                }, Unmanaged.passUnretained(self).toOpaque())
        }

        deinit {
            SSL_free(ssl)
            SSL_CTX_free(settings)
        }

        private func sayWhoTheClientIs() -> Int32 {
            guard isServerAccepted else { return -1 }
            guard let identity else { return 1 }
            let certificates = ([identity.certificate] + identity.intermediates).map(\.pemEncoded).joined()
            let key = identity.pemEncodedPrivateKey
            return afar_use_identity(
                ssl, certificates, Int32(certificates.utf8.count), key, Int32(key.utf8.count))
        }

        /// What the server presented, and what was agreed on.
        var connection: TLSConnection? { TLSConnection(ssl) }

        func acceptServer() { isServerAccepted = true }

        /// Goes on with the handshake as far as that is possible.
        func handshake() throws -> Progress {
            ERR_clear_error()
            let code = SSL_do_handshake(ssl)
            if code == 1 { return .isDone }
            switch SSL_get_error(ssl, code) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needsInput
            case SSL_ERROR_WANT_X509_LOOKUP: return .needsDecision
            default: throw failure
            }
        }

        /// Takes what came from the network.
        func receive(_ bytes: UnsafeRawBufferPointer) throws {
            guard BIO_write(input, bytes.baseAddress, Int32(bytes.count)) == Int32(bytes.count) else {
                throw Failure(message: "memory ran out")
            }
        }

        /// Puts what came into a buffer: how many bytes, 0 at the end that the peer has announced, nil when more input is
        /// needed.
        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
            try checkServer()
            ERR_clear_error()
            return try count(of: SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count)))
        }

        /// Looks at what came, and takes none of it.
        ///
        /// - Throws: Why the peer has ended the connection, if it has said so.
        func look() throws {
            ERR_clear_error()
            var byte: UInt8 = 0
            _ = try count(of: SSL_peek(ssl, &byte, 1))
        }

        private func count(of outcome: Int32) throws -> Int? {
            if outcome > 0 { return Int(outcome) }
            switch SSL_get_error(ssl, outcome) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
            case SSL_ERROR_ZERO_RETURN: return 0
            default: throw failure
            }
        }

        /// OpenSSL itself would go on with the handshake, and ask nobody.
        private func checkServer() throws {
            guard isServerAccepted, SSL_is_init_finished(ssl) != 0 else {
                throw Failure(message: "the connection is not secured yet")
            }
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws {
            try checkServer()
            var rest = bytes[...]
            while !rest.isEmpty {
                ERR_clear_error()
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 20))
                let count = SSL_write(ssl, part.baseAddress, Int32(part.count))
                guard count > 0 else { throw failure }
                rest = rest.dropFirst(Int(count))
            }
        }

        /// Announces the end.
        func finishWriting() {
            SSL_shutdown(ssl)
            ERR_clear_error()
        }

        /// What is to be sent to the network.
        func takeOutput() -> [UInt8] {
            let count = BIO_ctrl_pending(output)
            guard count > 0 else { return [] }
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = max(0, Int(BIO_read(output, buffer.baseAddress, Int32(clamping: count))))
            }
        }

        private var failure: Failure {
            let message = ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) }
            ERR_clear_error()
            return Failure(message: message ?? "the connection was broken off")
        }
    }

    extension String {
        fileprivate var isAddress: Bool {
            var (four, six) = (in_addr(), in6_addr())
            return inet_pton(AF_INET, self, &four) == 1 || inet_pton(AF_INET6, self, &six) == 1
        }
    }

    extension TLSSettings {
        fileprivate func apply(
            to settings: OpaquePointer, _ ssl: OpaquePointer, _ minimumVersion: ExchangeOptions.TLSVersion
        ) throws {
            let version = minimumVersion == .v13 ? TLS1_3_VERSION : TLS1_2_VERSION
            guard afar_set_connection_minimum(ssl, version) != 0 else {
                throw TLSEngine.Failure(message: "the lowest version of TLS")
            }
            if let cipherList, SSL_set_cipher_list(ssl, cipherList) != 1 {
                throw TLSEngine.Failure(message: "the list of ciphers is not understood")
            }
            if let tls13CipherSuites, SSL_set_ciphersuites(ssl, tls13CipherSuites) != 1 {
                throw TLSEngine.Failure(message: "the list of ciphers for TLS 1.3 is not understood")
            }
            afar_ask_for_ocsp_response(ssl)
            if let keyLog { afar_log_keys(settings, keyLog.descriptor) }
        }
    }
#else
    /// Only OpenSSL can secure a connection that exists.
    final class TLSEngine {
        enum Progress { case isDone, needsInput, needsDecision }
        struct Failure: Error { let message: String }

        init(_ target: ConnectionTarget, _ tls: TLSSettings) throws {
            throw Failure(message: "there is no OpenSSL here")
        }
        var connection: TLSConnection? { nil }
        func acceptServer() {}
        func handshake() throws -> Progress { .isDone }
        func receive(_ bytes: UnsafeRawBufferPointer) throws {}
        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? { 0 }
        func look() throws {}
        func write(_ bytes: UnsafeRawBufferPointer) throws {}
        func finishWriting() {}
        func takeOutput() -> [UInt8] { [] }
    }
#endif
