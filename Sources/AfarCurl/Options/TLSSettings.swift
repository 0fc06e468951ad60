import AfarTransport
import CLibcurl
import Foundation

extension TLSSettings {
    /// Applies the TLS settings: certificates are verified, and the version is at least 1.2. `CURLOPT_CAPATH` is unset because a
    /// directory of certificates prevents libcurl from caching the bundle. Without the cache, each connection costs 45 ms of
    /// processor time.
    func apply(
        to handle: EasyHandle, _ minimumVersion: ExchangeOptions.TLSVersion, _ security: ConnectionSecurity?
    ) throws(Fault) {
        let options = CurlOptions(easy: handle.raw)
        let isEvaluated = security?.evaluation != nil
        try options.set(CURLOPT_SSL_VERIFYPEER, isEvaluated ? 0 : 1)
        try options.set(CURLOPT_SSL_VERIFYHOST, isEvaluated ? 0 : 2)
        try options.set(CURLOPT_CAPATH, nil)
        if let file = authorities.file { try options.set(CURLOPT_CAINFO, file.path) }
        try options.set(CURLOPT_SSLVERSION, minimumVersion.curlVersion)
        if let cipherList { try options.set(CURLOPT_SSL_CIPHER_LIST, cipherList) }
        if let tls13CipherSuites { try options.set(CURLOPT_TLS13_CIPHERS, tls13CipherSuites) }
        if let identity = security?.identity { try options.set(identity) }
        // A resumed handshake has no certificates or OCSP response to evaluate.
        if isEvaluated { try options.set(CURLOPT_SSL_SESSIONID_CACHE, 0) }
        let needsHandshake = isEvaluated || keyLog != nil || CurlLibrary.shared.sharesOpenSSL
        handle.handshake = needsHandshake ? Handshake(security, isStrict: authorities.areStrict, logsTo: keyLog) : nil
        try handle.handshake?.apply(to: options)
    }
}

extension CurlOptions {
    /// Sets the client's certificates and key.
    fileprivate func set(_ identity: ClientIdentity) throws(Fault) {
        let certificates = ([identity.certificate] + identity.intermediates).map(\.pemEncoded).joined()
        try set(CURLOPT_SSLCERTTYPE, "PEM")
        try set(CURLOPT_SSLCERT_BLOB, bytesOf: certificates)
        try set(CURLOPT_SSLKEYTYPE, "PEM")
        try set(CURLOPT_SSLKEY_BLOB, bytesOf: identity.pemEncodedPrivateKey)
    }

    private func set(_ option: CURLoption, bytesOf text: String) throws(Fault) {
        var text = text
        let code = text.withUTF8 { afar_set_blob(easy, option, $0.baseAddress, $0.count) }
        try check(code, option)
    }
}

extension ExchangeOptions.TLSVersion {
    /// The libcurl constant that makes this version the minimum.
    var curlVersion: Int {
        switch self {
        case .v12: CURL_SSLVERSION_TLSv1_2
        case .v13: CURL_SSLVERSION_TLSv1_3
        }
    }
}
