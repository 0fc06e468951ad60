import AfarTransport
import CLibcurl
import Foundation

#if canImport(COpenSSL)
    import AfarTrust
    import COpenSSL
#endif

/// Controls TLS handshakes: ends one before the client's identity goes to a server that has not been accepted, validates
/// certificates without an evaluator, and logs keys. It belongs to one loop's thread.
final class Handshake {
    /// What the server presented where a handshake was ended, for somebody to decide on, and what was agreed on by then.
    @exclusivity(unchecked) var undecided: (chain: PresentedChain, agreement: TLSAgreement?)?
    private let security: ConnectionSecurity?
    private let isStrict: Bool
    private let keyLog: KeyLog?

    /// - Parameters:
    ///   - security: Who decides on the server's certificates, if anybody does.
    ///   - isStrict: Whether certificates must follow RFC 5280 to the letter, without an evaluator.
    init(_ security: ConnectionSecurity?, isStrict: Bool, logsTo keyLog: KeyLog?) {
        self.security = security?.evaluation == nil ? nil : security
        self.isStrict = isStrict
        self.keyLog = keyLog
    }

    #if canImport(COpenSSL)
        /// Where a connection's settings hold their object, which lives as long as the connection: a server may ask who the
        /// client is after the handshake too (RFC 8446, section 4.6.2).
        private static let place = afar_new_settings_place { _, object, _, _, _, _ in
            if let object { Unmanaged<Handshake>.fromOpaque(object).release() }
        }

        /// Tells libcurl. The handle has to hold the object.
        func apply(to options: CurlOptions) throws(CurlOptions.Failure) {
            let code = afar_set_ssl_context_function(
                options.easy,
                { _, settings, context in
                    guard let settings, let context else { return CURLE_OK }
                    let handshake = Unmanaged<Handshake>.fromOpaque(context).takeUnretainedValue()
                    return handshake.watch(OpaquePointer(settings)) ? CURLE_OK : CURLE_OUT_OF_MEMORY
                }, Unmanaged.passUnretained(self).toOpaque())
            try options.check(code, CURLOPT_SSL_CTX_FUNCTION)
        }

        /// Returns false when that is not possible.
        private func watch(_ settings: OpaquePointer) -> Bool {
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
            guard Self.place >= 0, SSL_CTX_set_ex_data(settings, Self.place, object.toOpaque()) == 1 else {
                object.release()
                return false
            }
            afar_prepare_for_evaluation(settings)
            SSL_CTX_set_cert_cb(
                settings,
                { ssl, context in
                    guard let ssl, let context else { return 0 }
                    let handshake = Unmanaged<Handshake>.fromOpaque(context).takeUnretainedValue()
                    return handshake.maySayWhoTheClientIs(to: TLSConnection(ssl)) ? 1 : 0
                }, object.toOpaque())
            return true
        }

        private func maySayWhoTheClientIs(to connection: TLSConnection) -> Bool {
            guard let security, !connection.isTrusted(under: security) else { return true }
            let chain = connection.presentedChain
            guard !security.accepts(chain) else { return true }
            undecided = (chain, connection.agreement)
            return false
        }
    #else
        func apply(to options: CurlOptions) throws(CurlOptions.Failure) {}
    #endif
}
