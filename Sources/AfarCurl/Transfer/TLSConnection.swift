import AfarTransport
import CLibcurl
import COpenSSL
import Foundation

/// The OpenSSL object of a connection. It exists until the connection's socket is closed.
struct TLSConnection {
    /// The index at which a connection stores the security object under which it was trusted.
    private static let trustIndex = afar_new_trust_index()

    /// The index at which a connection stores its ``TLSEnding``.
    private static let endingIndex = afar_new_connection_index { _, object, _, _, _, _ in
        if let object { Unmanaged<TLSEnding>.fromOpaque(object).release() }
    }

    private let ssl: OpaquePointer

    init(_ ssl: OpaquePointer) { self.ssl = ssl }

    /// Returns nil without TLS, or if libcurl doesn't use OpenSSL.
    init?(_ handle: EasyHandle) {
        guard let ssl = afar_get_openssl(handle.raw) else { return nil }
        self.ssl = OpaquePointer(ssl)
    }

    /// Whether the server has already been trusted on this connection.
    func isTrusted(under security: ConnectionSecurity) -> Bool {
        guard Self.trustIndex >= 0 else { return false }
        return SSL_get_ex_data(ssl, Self.trustIndex) == Unmanaged.passUnretained(security).toOpaque()
    }

    func setTrusted(under security: ConnectionSecurity) {
        guard Self.trustIndex >= 0 else { return }
        SSL_set_ex_data(ssl, Self.trustIndex, Unmanaged.passUnretained(security).toOpaque())
    }

    var usesHTTP2: Bool {
        var (name, length) = (nil as UnsafePointer<UInt8>?, 0 as UInt32)
        SSL_get0_alpn_selected(ssl, &name, &length)
        return length == 2 && name?[0] == UInt8(ascii: "h") && name?[1] == UInt8(ascii: "2")
    }

    /// How the server ends the connection. Recording begins at the first access. Nil if there is no memory left.
    ///
    /// After the first access, OpenSSL no longer reports an error if the connection ends without an alert. Some versions of
    /// libcurl would ignore the error, and others would fail every transfer.
    var ending: TLSEnding? {
        guard Self.endingIndex >= 0 else { return nil }
        if let object = SSL_get_ex_data(ssl, Self.endingIndex) {
            return Unmanaged<TLSEnding>.fromOpaque(object).takeUnretainedValue()
        }
        let ending = TLSEnding()
        let object = Unmanaged.passRetained(ending)
        guard SSL_set_ex_data(ssl, Self.endingIndex, object.toOpaque()) == 1 else {
            object.release()
            return nil
        }
        afar_ignore_unexpected_end(ssl)
        SSL_set_info_callback(ssl) { ssl, event, value in
            guard event == SSL_CB_READ | SSL_CB_ALERT, value & 0xFF == SSL_AD_CLOSE_NOTIFY, let ssl,
                let object = SSL_get_ex_data(ssl, TLSConnection.endingIndex)
            else { return }
            Unmanaged<TLSEnding>.fromOpaque(object).takeUnretainedValue().isAnnounced = true
        }
        return ending
    }

    private var connection: OpenSSLConnection { OpenSSLConnection(ssl) }

    var hasPendingData: Bool { connection.hasPendingData }

    var agreement: TLSAgreement? { connection.agreement }

    var presentedChain: PresentedChain { connection.presentedChain }

    /// Whether data, an alert, the beginning of a record or the end of the connection has arrived. This method processes session
    /// tickets and key updates. They don't count as data.
    func hasUnsolicitedData(on socket: Int32) -> Bool {
        // libcurl's own BIO works only inside libcurl.
        guard let own = SSL_get_rbio(ssl), own == SSL_get_wbio(ssl), let bio = BIO_new_socket(socket, BIO_NOCLOSE),
            BIO_up_ref(own) == 1
        else { return true }
        SSL_set_bio(ssl, bio, bio)
        ERR_clear_error()
        var byte: UInt8 = 0
        let error = SSL_get_error(ssl, SSL_peek(ssl, &byte, 1))
        let isInRecord = hasPendingData
        SSL_set_bio(ssl, own, own)
        ERR_clear_error()
        return error != SSL_ERROR_WANT_READ || isInRecord
    }
}

/// How a server ends a TLS connection. libcurl frees the connection before it reports the end of a transfer, but this object
/// still exists then.
final class TLSEnding {
    /// Whether the server has sent close_notify.
    @exclusivity(unchecked) var isAnnounced = false
}
