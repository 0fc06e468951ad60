import CLibcurl
import Foundation

#if canImport(COpenSSL)
    import COpenSSL
#endif

/// The libcurl that this process runs with, initialised once for all.
struct CurlLibrary {
    static let shared = CurlLibrary()

    /// "7.88.1", say.
    let version: String
    /// Whether it speaks HTTP/2, and HTTP/3.
    var speaksHTTP2: Bool
    let speaksHTTP3: Bool
    /// Whether a stream of HTTP/2 may stand still without the others of its connection: not before 8.17.
    var pausesStreams: Bool
    /// Whether request bodies can be sent over HTTP/2. Before 8.1, libcurl loses a response that is complete before the
    /// body was sent. Before 8.0, it also spins when the server's window is full.
    var sendsBodiesOverHTTP2: Bool
    /// Whether connections of HTTP/2 without TLS can be used again: not before 8.0.
    let reusesPlainHTTP2: Bool
    /// Whether it speaks NTLM and, by GSS-API, Negotiate.
    let authenticatesConnections: Bool
    /// The file of the certificates that it trusts by itself.
    let certificateBundle: URL?
    /// Whether TLS is OpenSSL's, which certificates are read with.
    let isOnOpenSSL: Bool
    /// Whether that is the same OpenSSL that this process has, and not another version beside it: only then are its objects passed
    /// to functions that change them.
    let sharesOpenSSL: Bool

    private init() {
        // Counted by libcurl and never undone: others in the process may use it too.
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let info = curl_version_info(CURLversion(CURLVERSION_LAST.rawValue - 1))?.pointee else {
            version = "unknown"
            authenticatesConnections = false
            certificateBundle = nil
            isOnOpenSSL = false
            sharesOpenSSL = false
            (speaksHTTP2, speaksHTTP3, pausesStreams) = (false, false, false)
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
        // What was agreed on in a handshake, OpenSSL is asked.
        speaksHTTP2 = isOnOpenSSL && info.features & CURL_VERSION_HTTP2 != 0
        speaksHTTP3 = info.features & CURL_VERSION_HTTP3 != 0
        pausesStreams = info.version_num >= 0x08_11_00
        sendsBodiesOverHTTP2 = info.version_num >= 0x08_01_00
        reusesPlainHTTP2 = info.version_num >= 0x08_00_00
    }

    /// The OpenSSL of this process, as libcurl names it.
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
