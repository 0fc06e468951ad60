import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// Sets libcurl's options. Every result is checked, so an option that this version of libcurl doesn't support is an error.
struct CurlOptions {
    let easy: UnsafeMutableRawPointer

    func set(_ option: CURLoption, _ value: Int) throws(Fault) {
        try check(afar_set_long(easy, option, value), option)
    }

    func set(_ option: CURLoption, offset value: Int64) throws(Fault) {
        try check(afar_set_offset(easy, option, curl_off_t(value)), option)
    }

    func set(_ option: CURLoption, _ value: String?) throws(Fault) {
        guard let value else { return try check(afar_set_string(easy, option, nil), option) }
        try check(afar_set_string(easy, option, value), option)
    }

    func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer?) throws(Fault) {
        try check(afar_set_pointer(easy, option, value), option)
    }

    func check(_ code: CURLcode, _ option: CURLoption) throws(Fault) {
        guard code != CURLE_OK else { return }
        let reason = String(cString: curl_easy_strerror(code))
        throw Fault(.unknown, "libcurl refused an option (\(option.rawValue)): \(reason)")
    }

    /// Sets the options that are the same for every transfer.
    func setRules() throws(Fault) {
        try set(CURLOPT_NOSIGNAL, 1)
        // Without this, canceling a lookup blocks the loop until the lookup's thread has ended.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_NOPROGRESS, 1)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_PROXY, "")
        // Without this, the environment variable `no_proxy` applies to any proxy.
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_TIMEOUT_MS, 0)
    }

    /// Sets the method, and whether the request has a body.
    func setMethod(_ method: HTTPRequest.Method, hasBody: Bool) throws(Fault) {
        switch method {
        case .get where !hasBody: try set(CURLOPT_HTTPGET, 1)
        case .head where !hasBody: try set(CURLOPT_NOBODY, 1)
        case let method where hasBody || method.expectsContent:
            try set(CURLOPT_POST, 1)
            if !hasBody { try setBody(Data()) }
            try set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        default: try set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        }
    }

    /// Sets the length of a body that libcurl reads from a callback; nil for a chunked body.
    func setBodyLength(_ length: Int64?) throws(Fault) {
        try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: length ?? -1)
    }

    /// Sets a body, which libcurl copies.
    func setBody(_ data: Data) throws(Fault) {
        try setBodyLength(Int64(data.count))
        let code = data.withUnsafeBytes { bytes in
            // An empty body needs a pointer too.
            var none: CChar = 0
            let start = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
            return withUnsafeMutablePointer(to: &none) {
                afar_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, start ?? UnsafeMutableRawPointer($0))
            }
        }
        try check(code, CURLOPT_COPYPOSTFIELDS)
    }
}
