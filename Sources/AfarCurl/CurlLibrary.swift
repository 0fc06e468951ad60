import CLibcurl
import COpenSSL

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
    /// Whether libcurl uses OpenSSL, which Afar needs to read certificates.
    let isOnOpenSSL: Bool
    /// Whether libcurl and Afar use the same OpenSSL. If the process contains two versions, Afar must not pass libcurl's
    /// OpenSSL objects to functions that change them.
    let sharesOpenSSL: Bool

    private init() {
        // libcurl counts the calls. There is no matching cleanup call, because other code may use libcurl.
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        let info = curl_version_info(CURLversion(CURLVERSION_LAST.rawValue - 1))?.pointee
        let (features, number) = (info?.features ?? 0, info?.version_num ?? 0)
        version = info?.version.map { String(cString: $0) } ?? "unknown"
        let schemes = CURL_VERSION_NTLM | CURL_VERSION_SPNEGO
        authenticatesConnections = features & schemes == schemes
        let secureLibrary = info?.ssl_version.map { String(cString: $0) } ?? ""
        isOnOpenSSL = secureLibrary.hasPrefix("OpenSSL/")
        sharesOpenSSL = secureLibrary == Self.openSSL
        // Only OpenSSL reports the protocol that a handshake has chosen (ALPN).
        supportsHTTP2 = isOnOpenSSL && features & CURL_VERSION_HTTP2 != 0
        supportsHTTP3 = features & CURL_VERSION_HTTP3 != 0
        pausesStreams = number >= 0x08_11_00
        sendsBodiesOverHTTP2 = number >= 0x08_01_00
        reusesPlainHTTP2 = number >= 0x08_00_00
    }

    /// The version of the OpenSSL that Afar uses, in libcurl's form.
    private static var openSSL: String? {
        OpenSSL_version(OPENSSL_VERSION_STRING).map { "OpenSSL/" + String(cString: $0) }
    }
}
