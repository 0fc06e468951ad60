import AfarCore
import CLibcurl
import Foundation
import HTTPTypes

/// Tells libcurl everything about one transfer. Every option is set each time, because the handle has just been reset,
/// and every answer is checked: an option that a libcurl does not know must not be lost silently.
struct CurlOptions {
    struct Failure: Error {
        var code: CURLcode
        var option: CURLoption
    }

    let easy: UnsafeMutableRawPointer

    func set(_ option: CURLoption, _ value: Int) throws(Failure) {
        try check(afar_set_long(easy, option, value), option)
    }

    func set(_ option: CURLoption, offset value: Int64) throws(Failure) {
        try check(afar_set_offset(easy, option, curl_off_t(value)), option)
    }

    func set(_ option: CURLoption, _ value: String?) throws(Failure) {
        guard let value else { return try check(afar_set_string(easy, option, nil), option) }
        try check(afar_set_string(easy, option, value), option)
    }

    func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer?) throws(Failure) {
        try check(afar_set_pointer(easy, option, value), option)
    }

    func check(_ code: CURLcode, _ option: CURLoption) throws(Failure) {
        guard code == CURLE_OK else { throw Failure(code: code, option: option) }
    }

    /// What is the same for every transfer.
    func setRules() throws(Failure) {
        try set(CURLOPT_NOSIGNAL, 1)
        // Else a cancel during a look-up waits for the look-up's thread, and the whole loop with it.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_NOPROGRESS, 1)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_TIMEOUT_MS, 0)
    }

    /// TLS: verified, at least 1.2. A directory of certificates is switched off because it keeps libcurl from caching
    /// the bundle, which costs 45 ms of CPU a connection.
    func setSecurity(_ options: ExchangeOptions, bundle: String?) throws(Failure) {
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_CAPATH, nil)
        if let bundle { try set(CURLOPT_CAINFO, bundle) }
        let version =
            switch options.minimumTLSVersion {
            case .v12: CURL_SSLVERSION_TLSv1_2
            case .v13: CURL_SSLVERSION_TLSv1_3
            }
        try set(CURLOPT_SSLVERSION, version)
    }

    /// The method, and the kind of body that goes with it.
    func setMethod(_ plan: RequestPlan, body: RequestBody, length: Int64?) throws(Failure) {
        let name = plan.method.rawValue
        switch body {
        case .none:
            switch plan.method {
            case .get: try set(CURLOPT_HTTPGET, 1)
            case .head: try set(CURLOPT_NOBODY, 1)
            case let method where method.expectsContent:
                try set(CURLOPT_POST, 1)
                try set(CURLOPT_POSTFIELDSIZE, 0)
                try set(CURLOPT_COPYPOSTFIELDS, "")
                try set(CURLOPT_CUSTOMREQUEST, name)
            default: try set(CURLOPT_CUSTOMREQUEST, name)
            }
        case .data, .file, .stream:
            try set(CURLOPT_POST, 1)
            try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: length ?? -1)
            try set(CURLOPT_CUSTOMREQUEST, name)
        }
    }
}
