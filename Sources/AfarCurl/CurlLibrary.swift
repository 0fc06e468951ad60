import CLibcurl
import Foundation

#if canImport(COpenSSL)
    import COpenSSL
#endif

/// The version of libcurl that this process uses, and its features. libcurl is initialized once.
struct CurlLibrary {
    static let shared = CurlLibrary()

    /// The version, such as "7.88.1".
    let version: String
    var supportsHTTP2: Bool
    let supportsHTTP3: Bool
    /// Whether an HTTP/2 stream can be paused without stalling the other streams of its connection (libcurl 8.17 and later).
    var pausesStreams: Bool
    /// Whether request bodies can be sent over HTTP/2. Before 8.1, libcurl loses a response that is complete before the body has
    /// been sent. Before 8.0, it also uses all processor time while the server's flow-control window is full.
    var sendsBodiesOverHTTP2: Bool
    /// Whether HTTP/2 connections without TLS can be reused (libcurl 8.0 and later).
    let reusesPlainHTTP2: Bool
    /// Whether libcurl supports both NTLM and Negotiate (through GSS-API).
    let authenticatesConnections: Bool
    /// The default file of trusted certificates.
    let certificateBundle: URL?
    /// Whether libcurl uses OpenSSL, which Afar needs to read certificates.
    let isOnOpenSSL: Bool
    /// Whether libcurl and Afar use the same OpenSSL. If the process contains two versions, Afar must not pass libcurl's
    /// OpenSSL objects to functions that change them.
    let sharesOpenSSL: Bool

    private init() {
        // libcurl counts the calls. There is no matching cleanup call, because other code may use libcurl.
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let info = curl_version_info(CURLversion(CURLVERSION_LAST.rawValue - 1))?.pointee else {
            version = "unknown"
            authenticatesConnections = false
            certificateBundle = nil
            isOnOpenSSL = false
            sharesOpenSSL = false
            (supportsHTTP2, supportsHTTP3, pausesStreams) = (false, false, false)
            (sendsBodiesOverHTTP2, reusesPlainHTTP2) = (false, false)
            return
        }
        version = String(cString: info.version)
        let schemes = CURL_VERSION_NTLM | CURL_VERSION_SPNEGO
        authenticatesConnections = info.features & schemes == schemes
        certificateBundle = Self.certificateBundle()
        let secureLibrary = info.ssl_version.map { String(cString: $0) } ?? ""
        isOnOpenSSL = secureLibrary.hasPrefix("OpenSSL/")
        sharesOpenSSL = secureLibrary == Self.openSSL
        // Only OpenSSL reports the protocol that a handshake has chosen (ALPN).
        supportsHTTP2 = isOnOpenSSL && info.features & CURL_VERSION_HTTP2 != 0
        supportsHTTP3 = info.features & CURL_VERSION_HTTP3 != 0
        pausesStreams = info.version_num >= 0x08_11_00
        sendsBodiesOverHTTP2 = info.version_num >= 0x08_01_00
        reusesPlainHTTP2 = info.version_num >= 0x08_00_00
    }

    /// The version of the OpenSSL that Afar uses, in libcurl's form.
    private static var openSSL: String? {
        #if canImport(COpenSSL)
            OpenSSL_version(OPENSSL_VERSION_STRING).map { "OpenSSL/" + String(cString: $0) }
        #else
            nil
        #endif
    }

    private static func certificateBundle() -> URL? {
        guard let easy = curl_easy_init() else { return nil }
        defer { curl_easy_cleanup(easy) }
        var path: UnsafePointer<CChar>?
        guard afar_get_string(easy, CURLINFO_CAINFO, &path) == CURLE_OK, let path else { return nil }
        return URL(filePath: String(cString: path))
    }
}
