import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// How a transport's connections are secured; the same for all its threads.
final class TLSSettings: Sendable {
    /// The certificates that are trusted.
    let authorities: CertificateAuthorities
    let certificateBundle: String?
    let cipherList: String?
    let tls13CipherSuites: String?
    let keyLog: KeyLog?

    init(_ configuration: CurlTransport.Configuration) {
        certificateBundle = configuration.certificateBundle?.path
        cipherList = configuration.tlsCipherList
        tls13CipherSuites = configuration.tls13CipherSuites
        keyLog = configuration.tlsKeyLogFile.map { KeyLog(file: $0) }
        authorities = CertificateAuthorities(
            file: configuration.certificateBundle ?? CurlLibrary.shared.certificateBundle,
            areStrict: configuration.validatesCertificatesStrictly)
    }

    /// Throws when an exchange's secure connection cannot be as it is wanted.
    func check(_ exchange: Exchange) throws {
        if exchange.request.scheme == "https" { try check(url: exchange.url) }
    }

    /// Throws when secure connections cannot be as they are wanted.
    func check(url: String) throws {
        guard let keyLog, keyLog.descriptor < 0 else { return }
        throw TransportError(
            .invalidUse, phase: .queued, url: url,
            message:
                "the file for TLS keys, \(keyLog.file.path), cannot be written: it has to be a regular file of this "
                + "user's that nobody else may read",
            systemError: keyLog.systemError)
    }

    /// TLS: verified, at least 1.2. A directory of certificates is switched off because it keeps libcurl from caching
    /// the bundle, which costs 45 ms of CPU a connection.
    func apply(
        to handle: EasyHandle, _ minimumVersion: ExchangeOptions.TLSVersion, _ security: ConnectionSecurity?
    ) throws(CurlOptions.Failure) {
        let options = CurlOptions(easy: handle.raw)
        let isEvaluated = security?.evaluation != nil
        try options.set(CURLOPT_SSL_VERIFYPEER, isEvaluated ? 0 : 1)
        try options.set(CURLOPT_SSL_VERIFYHOST, isEvaluated ? 0 : 2)
        try options.set(CURLOPT_CAPATH, nil)
        if let certificateBundle { try options.set(CURLOPT_CAINFO, certificateBundle) }
        let version =
            switch minimumVersion {
            case .v12: CURL_SSLVERSION_TLSv1_2
            case .v13: CURL_SSLVERSION_TLSv1_3
            }
        try options.set(CURLOPT_SSLVERSION, version)
        if let cipherList { try options.set(CURLOPT_SSL_CIPHER_LIST, cipherList) }
        if let tls13CipherSuites { try options.set(CURLOPT_TLS13_CIPHERS, tls13CipherSuites) }
        if let identity = security?.identity { try options.set(identity) }
        // A session that is resumed shows no certificates and no OCSP response to decide on.
        if isEvaluated { try options.set(CURLOPT_SSL_SESSIONID_CACHE, 0) }
        let needsHandshake = isEvaluated || keyLog != nil || CurlLibrary.shared.sharesOpenSSL
        handle.handshake = needsHandshake ? Handshake(security, isStrict: authorities.areStrict, logsTo: keyLog) : nil
        try handle.handshake?.apply(to: options)
    }
}

/// A file to which the secrets of handshakes are added, in the form that Wireshark reads.
final class KeyLog: Sendable {
    let file: URL
    /// Below 0 when the file could not be opened.
    let descriptor: Int32
    let systemError: Int32

    init(file: URL) {
        self.file = file
        // A pipe without a reader would hold up whoever opens it.
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let opened = open(file.path, flags, 0o600)
        let error = opened < 0 ? errno : 0
        guard opened >= 0, !Self.isPrivate(opened) else {
            (descriptor, systemError) = (opened, error)
            return
        }
        close(opened)
        (descriptor, systemError) = (-1, EPERM)
    }

    /// Whether it is a regular file of this user's that nobody else may read or write.
    private static func isPrivate(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

extension CurlOptions {
    /// The client's certificate and key.
    fileprivate func set(_ identity: ClientIdentity) throws(Failure) {
        let certificates = ([identity.certificate] + identity.intermediates).map(\.pemEncoded).joined()
        try set(CURLOPT_SSLCERTTYPE, "PEM")
        try set(CURLOPT_SSLCERT_BLOB, bytesOf: certificates)
        try set(CURLOPT_SSLKEYTYPE, "PEM")
        try set(CURLOPT_SSLKEY_BLOB, bytesOf: identity.pemEncodedPrivateKey)
    }

    private func set(_ option: CURLoption, bytesOf text: String) throws(Failure) {
        var text = text
        let code = text.withUTF8 { afar_set_blob(easy, option, $0.baseAddress, $0.count) }
        try check(code, option)
    }
}
