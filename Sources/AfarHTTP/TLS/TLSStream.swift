import AfarTransport
import AfarTrust
import COpenSSL
import Foundation

/// A TLS client over another stream. OpenSSL reads and writes through a BIO, which calls the underlying stream.
///
/// The stream isn't thread-safe. The thread of a loop uses it, or a ``RawSocket`` protects it with a lock.
final class TLSStream: ByteStream {
    enum Progress {
        /// The handshake is complete, and the server is trusted.
        case done
        case wouldBlock
        /// The server's certificates must be evaluated. Call ``trustServer()``, then continue the handshake.
        case undecided
    }

    /// The event for which a stalled read or write waits. OpenSSL may have to write before it can read, and vice versa.
    private enum Obstacle { case none, reading, writing }

    private static let readLimit = 256 * 1024

    private let lower: any ByteStream
    private let ssl: OpaquePointer
    private let host: String
    private let security: ConnectionSecurity?
    private let context: TLSContext
    /// The session that was offered to the server for resumption.
    private let session: TLSSession?
    @exclusivity(unchecked) private var readObstacle = Obstacle.none
    @exclusivity(unchecked) private var writeObstacle = Obstacle.none
    /// Why the underlying stream has failed.
    @exclusivity(unchecked) private var lowerFault: Fault?
    @exclusivity(unchecked) fileprivate private(set) var hasLowerEnded = false
    @exclusivity(unchecked) private var isFinished = false
    /// Whether OpenSSL holds a record that has been sent only in part.
    @exclusivity(unchecked) private(set) var hasPendingWrite = false
    /// How many more bytes OpenSSL can read in the current call. The number is limited because a server could send TLS messages endlessly.
    @exclusivity(unchecked) private var readBudget = 0
    @exclusivity(unchecked) private var isTrusted = false
    /// Why the server's certificates are invalid. Only set without an evaluator.
    @exclusivity(unchecked) private var trustError: ServerTrustError?
    /// Why the client's identity could not be presented.
    @exclusivity(unchecked) private var identityFault: Fault?
    /// Whether the server requested a certificate, but the client has none.
    @exclusivity(unchecked) private var lacksIdentity = false
    /// Called with each session that the server offers for resumption.
    @exclusivity(unchecked) var onSession: ((TLSSession) -> Void)?
    /// Sessions that arrived before the server was trusted.
    @exclusivity(unchecked) private var sessions: [TLSSession] = []

    private(set) lazy var presentedChain = OpenSSLConnection(ssl).presentedChain

    /// - Parameters:
    ///   - host: The name or address for which the server's certificate must be valid if there is no evaluator.
    ///   - security: The client's identity and the evaluation of certificates; nil for the defaults.
    ///   - applicationProtocols: The protocols to offer (ALPN, RFC 7301), in order of preference.
    ///   - session: A session to resume, if the server still has it.
    init(
        over lower: any ByteStream, to host: String, minimumVersion: ExchangeOptions.TLSVersion = .v12,
        _ security: ConnectionSecurity?, _ context: TLSContext, applicationProtocols: [String] = [],
        resuming session: TLSSession? = nil
    ) throws(Fault) {
        (self.lower, ssl, self.context, self.session) = (lower, try context.makeConnection(), context, session)
        let host = host.withoutZone
        (self.host, self.security) = (host.hasSuffix(".") ? String(host.dropLast()) : host, security)
        afar_set_object(ssl, Unmanaged.passUnretained(self).toOpaque())
        guard let bio = StreamBIO.make(for: self) else { throw .outOfMemory }
        SSL_set_bio(ssl, bio, bio)
        SSL_set_connect_state(ssl)
        let version = minimumVersion == .v13 ? TLS1_3_VERSION : TLS1_2_VERSION
        guard afar_set_connection_minimum(ssl, version) != 0 else { throw .outOfMemory }
        // An address isn't a valid server name (RFC 6066, section 3).
        if !SocketAddress.isAddress(self.host), afar_set_server_name(ssl, self.host) == 0 { throw .outOfMemory }
        let protocols = applicationProtocols.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
        guard protocols.isEmpty || SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count)) == 0 else {
            throw Fault(.invalidUse, "the application protocols are not valid: \(applicationProtocols)")
        }
        if security?.evaluation != nil {
            SSL_set_verify(ssl, SSL_VERIFY_NONE, nil)
            afar_ask_for_ocsp_response(ssl)
        } else {
            guard afar_set_authorities(ssl, try context.authorities().raw) != 0 else { throw .outOfMemory }
            SSL_set_verify(ssl, SSL_VERIFY_PEER, nil)
        }
        SSL_set_cert_cb(ssl, { ssl, _ in ssl.flatMap { TLSStream.of($0) }?.presentIdentity() ?? 0 }, nil)
        // A server can also request the identity after the handshake (RFC 8446, section 4.6.2).
        if security?.identity != nil { SSL_set_post_handshake_auth(ssl, 1) }
        if let session { SSL_set_session(ssl, session.raw) }
    }

    deinit { SSL_free(ssl) }

    /// Returns the stream of an OpenSSL connection.
    static func of(_ ssl: OpaquePointer) -> TLSStream? {
        afar_object(ssl).map { Unmanaged<TLSStream>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns the stream for which OpenSSL created a validation context.
    static func validating(_ context: OpaquePointer) -> TLSStream? { afar_connection_of(context).flatMap { of($0) } }

    // MARK: The handshake

    /// Continues the handshake as far as possible.
    func handshake() throws(Fault) -> Progress {
        guard !isFinished else { return decide() }
        begin()
        let code = SSL_do_handshake(ssl)
        guard code != 1 else {
            // Some cipher suites don't authenticate the server, so check for its certificate.
            guard SSL_get0_peer_certificate(ssl) != nil else {
                throw Fault(.certificateUntrusted, "the server presented no certificate")
            }
            isFinished = true
            return decide()
        }
        let error = SSL_get_error(ssl, code)
        switch error {
        case SSL_ERROR_WANT_READ:
            readObstacle = .reading
            return .wouldBlock
        case SSL_ERROR_WANT_WRITE:
            readObstacle = .writing
            return .wouldBlock
        case SSL_ERROR_WANT_X509_LOOKUP: return .undecided
        default: throw handshakeFault(error)
        }
    }

    /// Prepares for a call to OpenSSL.
    private func begin() {
        ERR_clear_error()
        readBudget = Self.readLimit
    }

    private func decide() -> Progress {
        guard !isTrusted else { return .done }
        guard isAccepted else { return .undecided }
        trustServer()
        return .done
    }

    /// Whether the server's certificates need no further evaluation. Without an evaluator, OpenSSL has validated them.
    private var isAccepted: Bool {
        guard let security, security.evaluation != nil else { return true }
        // The certificates of a resumed session were accepted earlier, and a resumed handshake has no OCSP response.
        return isTrusted || SSL_session_reused(ssl) == 1 || security.accepts(presentedChain)
    }

    /// Marks the server as trusted. From now on, the stream presents the client's identity if the server requests it.
    func trustServer() {
        isTrusted = true
        // With TLS 1.2, a server offers no new session after a resumption, so keep the resumed session.
        if let session, SSL_session_reused(ssl) == 1, SSL_version(ssl) == TLS1_2_VERSION { onSession?(session) }
        for session in sessions { onSession?(session) }
        sessions = []
    }

    /// The certificates that must be evaluated.
    var undecidedTrust: UndecidedTrust { UndecidedTrust(presentedChain, authorities: context.settings.authorities) }

    /// The negotiated version and cipher suite, if any.
    var agreement: TLSAgreement? { OpenSSLConnection(ssl).agreement }

    /// The protocol that the server chose (ALPN, RFC 7301); nil if it chose none.
    var applicationProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    private func handshakeFault(_ error: Int32) -> Fault {
        if let trustError { return Fault(trustError.code.transportCode, "\(trustError)", underlying: trustError) }
        if let identityFault { return identityFault }
        if hasLowerEnded {
            return Fault(.secureConnectionFailed, "the server closed the connection during the TLS handshake")
        }
        if error != SSL_ERROR_SSL, let lowerFault {
            return Fault(
                .secureConnectionFailed, "the connection was lost during the TLS handshake",
                systemError: lowerFault.systemError)
        }
        return opensslFault(.secureConnectionFailed, "the TLS handshake failed")
    }

    private func opensslFault(_ code: TransportError.Code, _ message: String) -> Fault {
        let error = ERR_peek_last_error()
        defer { ERR_clear_error() }
        let reason = ERR_reason_error_string(error).map { ": " + String(cString: $0) } ?? ""
        let code = Self.code(ofAlert: afar_reason(error), lacksIdentity: lacksIdentity) ?? code
        guard code == .clientCertificateRequired || code == .clientCertificateRejected else {
            return Fault(code, message + reason)
        }
        return Fault(code, message + reason + (AcceptedIssuers.description(of: ssl).map { " (\($0))" } ?? ""))
    }

    /// Returns the code for an alert about the client's certificate (RFC 8446, section 6.2). The alert can arrive after the
    /// handshake. Before TLS 1.3, a missing certificate has no alert of its own (RFC 5246, section 7.4.6).
    private static func code(ofAlert reason: Int32, lacksIdentity: Bool) -> TransportError.Code? {
        switch reason {
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: .clientCertificateRequired
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE where lacksIdentity: .clientCertificateRequired
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_TLSV1_ALERT_UNKNOWN_CA, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
            SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
            SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
            .clientCertificateRejected
        default: nil
        }
    }

    /// Validates a chain for OpenSSL. If there is an evaluator, it decides later instead.
    func validate(_ context: OpaquePointer) -> Bool {
        guard security?.evaluation == nil else { return true }
        let isStrict = self.context.settings.authorities.areStrict
        trustError = ChainValidation.error(inHandshake: context, host: host, isStrict: isStrict)
        return trustError == nil
    }

    /// Presents the client's identity when the server requests it.
    ///
    /// - Returns: OpenSSL's code: 1 to continue, 0 for a failure, -1 to wait for the decision about the server.
    private func presentIdentity() -> Int32 {
        guard isAccepted else { return -1 }
        guard let identity = security?.identity else {
            lacksIdentity = true
            return 1
        }
        let certificates = ([identity.certificate] + identity.intermediates).map(\.pemEncoded).joined()
        let key = identity.pemEncodedPrivateKey
        let isUsed =
            afar_use_identity(ssl, certificates, Int32(certificates.utf8.count), key, Int32(key.utf8.count)) != 0
        if !isUsed { identityFault = opensslFault(.clientCertificateRejected, "the client identity can't be used") }
        ERR_clear_error()
        return isUsed ? 1 : 0
    }

    /// Receives a session from the server, and passes it on as soon as the server is trusted.
    func receiveSession(_ raw: OpaquePointer) {
        let session = TLSSession(
            raw, security?.evaluation == nil ? nil : presentedChain,
            renewing: SSL_session_reused(ssl) == 1 ? self.session : nil)
        if isTrusted { onSession?(session) } else { sessions.append(session) }
    }

    // MARK: Bytes

    var canRead: Bool {
        switch readObstacle {
        case .none: true
        case .reading: lower.canRead
        case .writing: lower.canWrite
        }
    }

    var canWrite: Bool { writeObstacle == .reading ? lower.canRead : lower.canWrite }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamResult {
        guard isTrusted else { return .failed(Self.untrusted) }
        begin()
        readObstacle = .none
        let count = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        guard count > 0 else { return result(of: count, \.readObstacle) }
        if !lower.canRead, !OpenSSLConnection(ssl).hasPendingData { readObstacle = .reading }
        return .bytes(Int(count))
    }

    /// The fault that reads and writes return until the server is trusted. Without this fault, OpenSSL would complete the handshake
    /// with any server and send data to it.
    private static let untrusted = Fault(.certificateUntrusted, "the server is not trusted yet")

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamResult {
        guard isTrusted else { return .failed(Self.untrusted) }
        begin()
        writeObstacle = .none
        let count = SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
        hasPendingWrite = count <= 0
        return count > 0 ? .bytes(Int(count)) : result(of: count, \.writeObstacle)
    }

    private func result(of code: Int32, _ obstacle: ReferenceWritableKeyPath<TLSStream, Obstacle>) -> StreamResult {
        let error = SSL_get_error(ssl, code)
        switch error {
        case SSL_ERROR_WANT_READ: self[keyPath: obstacle] = .reading
        case SSL_ERROR_WANT_WRITE: self[keyPath: obstacle] = .writing
        case SSL_ERROR_ZERO_RETURN: return .end(isClean: true)
        default:
            if hasLowerEnded { return .end(isClean: false) }
            if let identityFault { return .failed(identityFault) }
            // An alert is more informative than an earlier failed write.
            if error != SSL_ERROR_SSL, let lowerFault { return .failed(lowerFault) }
            return .failed(opensslFault(.connectionLost, "the server ended the TLS connection"))
        }
        return .wouldBlock
    }

    func isIdle() -> Bool {
        begin()
        var byte: UInt8 = 0
        let code = SSL_peek(ssl, &byte, 1)
        guard code <= 0, SSL_get_error(ssl, code) == SSL_ERROR_WANT_READ else {
            ERR_clear_error()
            return false
        }
        readObstacle = .reading
        let isEmpty = readBudget > 0 && !OpenSSLConnection(ssl).hasPendingData
        guard isEmpty, (lower as? TLSStream)?.isIdle() ?? true else { return false }
        // After reading session tickets, OpenSSL would keep a buffer of 16 KiB for each idle connection. Call this function only if
        // no data is pending: before OpenSSL 3.0.14, it also frees a buffer that holds the beginning of a record (CVE-2024-4741).
        SSL_free_buffers(ssl)
        return true
    }

    /// Returns the server's alert, if one has arrived. Call this method after a write has failed.
    func receivedAlert() -> Fault? {
        begin()
        (lowerFault, hasLowerEnded) = (nil, false)
        var byte: UInt8 = 0
        let code = SSL_peek(ssl, &byte, 1)
        guard code <= 0, SSL_get_error(ssl, code) == SSL_ERROR_SSL, lowerFault == nil, !hasLowerEnded else {
            return nil
        }
        return opensslFault(.connectionLost, "the server ended the TLS connection")
    }

    /// Sends the end of the stream (`close_notify`).
    ///
    /// - Returns: Whether the end has been sent. If not, call this method again when ``canWrite`` is true.
    @discardableResult
    func shutDown() -> Bool {
        guard isFinished, lowerFault == nil else { return true }
        begin()
        let code = SSL_shutdown(ssl)
        defer { ERR_clear_error() }
        return code >= 0 || SSL_get_error(ssl, code) != SSL_ERROR_WANT_WRITE
    }

    // MARK: The underlying stream

    /// Reads from the underlying stream for OpenSSL.
    fileprivate func receive(into buffer: UnsafeMutableRawBufferPointer, for bio: OpaquePointer) -> Int32 {
        afar_clear_retry(bio)
        guard readBudget > 0 else { return afar_would_block(bio, true) }
        switch lower.read(into: buffer) {
        case .bytes(let count):
            readBudget -= count
            (readObstacle, writeObstacle) = (.none, .none)
            return Int32(count)
        case .wouldBlock: return afar_would_block(bio, true)
        case .end:
            hasLowerEnded = true
            return 0
        case .failed(let fault):
            lowerFault = fault
            return -1
        }
    }

    /// Writes to the underlying stream for OpenSSL.
    fileprivate func send(_ bytes: UnsafeRawBufferPointer, for bio: OpaquePointer) -> Int32 {
        afar_clear_retry(bio)
        switch lower.write(bytes) {
        case .bytes(let count):
            // Only reads can continue now. A write that waits for received bytes must still wait.
            if readObstacle == .writing { readObstacle = .none }
            return Int32(count)
        case .wouldBlock: return afar_would_block(bio, false)
        case .end: return -1
        case .failed(let fault):
            lowerFault = fault
            return -1
        }
    }
}

/// The BIO through which OpenSSL uses a stream.
private enum StreamBIO {
    // This is safe because the value never changes.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "afar") else { return nil }
        BIO_meth_set_read(method) { bio, buffer, count in
            guard let bio, let stream = stream(of: bio) else { return -1 }
            return stream.receive(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), for: bio)
        }
        BIO_meth_set_write(method) { bio, bytes, count in
            guard let bio, let stream = stream(of: bio) else { return -1 }
            return stream.send(UnsafeRawBufferPointer(start: bytes, count: Int(count)), for: bio)
        }
        BIO_meth_set_ctrl(method) { bio, command, _, _ in
            switch command {
            case BIO_CTRL_FLUSH: 1
            case BIO_CTRL_EOF: bio.flatMap { stream(of: $0) }?.hasLowerEnded == true ? 1 : 0
            default: 0
            }
        }
        return method
    }()

    private static func stream(of bio: OpaquePointer) -> TLSStream? {
        BIO_get_data(bio).map { Unmanaged<TLSStream>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Creates a BIO, which doesn't retain the stream.
    static func make(for stream: TLSStream) -> OpaquePointer? {
        guard let method, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(stream).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }
}
