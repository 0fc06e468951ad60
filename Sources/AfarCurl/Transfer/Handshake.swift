import AfarTransport
import AfarTrust
import CLibcurl
import COpenSSL
import Foundation

/// Controls TLS handshakes: validates certificates if there is no evaluator, and logs keys. It ends a handshake before the
/// client's identity is sent to a server that hasn't been accepted. It belongs to the thread of one loop.
final class Handshake {
    /// The server's certificates and the negotiated settings, if the handshake was ended to evaluate the certificates.
    @exclusivity(unchecked) var undecided: (chain: PresentedChain, agreement: TLSAgreement?)?
    private let security: ConnectionSecurity?
    private let isStrict: Bool
    private let keyLog: KeyLog?

    /// - Parameters:
    ///   - security: The evaluation of the server's certificates, if any.
    ///   - isStrict: Whether certificates must follow RFC 5280 strictly if there is no evaluator.
    init(_ security: ConnectionSecurity?, isStrict: Bool, logsTo keyLog: KeyLog?) {
        self.security = security?.evaluation == nil ? nil : security
        self.isStrict = isStrict
        self.keyLog = keyLog
    }

    /// The index of the object in OpenSSL's settings. The settings retain the object as long as the connection exists,
    /// because a server can also request the client's identity after the handshake (RFC 8446, section 4.6.2).
    private static let exDataIndex = afar_new_settings_index { _, object, _, _, _, _ in
        if let object { Unmanaged<Handshake>.fromOpaque(object).release() }
    }

    /// Sets libcurl's callback. The handle must retain this object.
    func apply(to options: CurlOptions) throws(Fault) {
        let code = afar_set_ssl_context_function(
            options.easy,
            { _, settings, context in
                guard let settings, let context else { return CURLE_OK }
                let handshake = Unmanaged<Handshake>.fromOpaque(context).takeUnretainedValue()
                return handshake.setCallbacks(on: OpaquePointer(settings)) ? CURLE_OK : CURLE_OUT_OF_MEMORY
            }, Unmanaged.passUnretained(self).toOpaque())
        try options.check(code, CURLOPT_SSL_CTX_FUNCTION)
    }

    /// Sets OpenSSL's callbacks. Returns false if that fails.
    private func setCallbacks(on settings: OpaquePointer) -> Bool {
        if let keyLog { afar_log_keys(settings, keyLog.descriptor) }
        guard security != nil else {
            guard CurlLibrary.shared.sharesOpenSSL else { return true }
            afar_set_validation(
                settings,
                { context, isStrict in
                    guard let context else { return 0 }
                    let isValid = ServerChainRules.validate(
                        context, isStrict: isStrict != nil, requiresNames: true)
                    return isValid ? 1 : 0
                }, UnsafeMutableRawPointer(bitPattern: isStrict ? 1 : 0))
            return true
        }
        let object = Unmanaged.passRetained(self)
        guard Self.exDataIndex >= 0, SSL_CTX_set_ex_data(settings, Self.exDataIndex, object.toOpaque()) == 1 else {
            object.release()
            return false
        }
        afar_prepare_for_evaluation(settings)
        SSL_CTX_set_cert_cb(
            settings,
            { ssl, context in
                guard let ssl, let context else { return 0 }
                let handshake = Unmanaged<Handshake>.fromOpaque(context).takeUnretainedValue()
                return handshake.canPresentIdentity(to: TLSConnection(ssl)) ? 1 : 0
            }, object.toOpaque())
        return true
    }

    private func canPresentIdentity(to connection: TLSConnection) -> Bool {
        guard let security, !connection.isTrusted(under: security) else { return true }
        let chain = connection.presentedChain
        guard !security.accepts(chain) else { return true }
        undecided = (chain, connection.agreement)
        return false
    }
}
