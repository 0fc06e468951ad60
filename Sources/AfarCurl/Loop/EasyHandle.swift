import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// One of libcurl's transfer handles, with its error text. It belongs to one loop's thread.
final class EasyHandle {
    /// The options that many transfers have in common, so that a handle that has them need not be told again.
    struct Setup: Equatable {
        var method: HTTPRequest.Method
        var hasBody: Bool
        var isSecure: Bool
        var minimumTLSVersion: ExchangeOptions.TLSVersion
        var connectTimeout: TimeInterval
        var version: HTTPVersion
        var route: ConnectionRoute?
    }

    let raw: UnsafeMutableRawPointer
    /// What the handle has been told, nil when it is not fit to be used as it is.
    @exclusivity(unchecked) var setup: Setup?
    /// The transfer that the handle works for.
    @exclusivity(unchecked) var transfer: Transfer?
    /// What watches over the handshakes of the handle's transfers; nil where libcurl does that alone.
    @exclusivity(unchecked) var handshake: Handshake?
    /// How much more may come that nobody wants, from when there is no transfer for it.
    @exclusivity(unchecked) private var discardLimit: Int?
    /// Whether other transfers use the handle again. libcurl sets a buffer's size only on a fresh handle, so a handle
    /// with a large one is used once.
    let isReusable: Bool
    let errorText: UnsafeMutablePointer<CChar>
    /// The URL in libcurl's form, which is made once when the same URL is asked again and again.
    let url: OpaquePointer
    @exclusivity(unchecked) private var urlText: String?

    init?(isReusable: Bool) {
        guard let raw = curl_easy_init() else { return nil }
        guard let url = curl_url() else {
            curl_easy_cleanup(raw)
            return nil
        }
        self.raw = raw
        self.url = url
        self.isReusable = isReusable
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// The handle that libcurl names in a callback; it is alive as long as libcurl knows it.
    static func from(_ context: UnsafeMutableRawPointer) -> EasyHandle {
        Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// What libcurl gives back in callbacks, for ``from(_:)``.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Has the rest of the response read for nobody.
    func discard() { discardLimit = Self.longestBodyToDiscard }

    var isDiscarding: Bool { discardLimit != nil }

    private static let longestBodyToDiscard = 64 * 1024 * 1024

    /// Something has come that no transfer is there for. Returns whether it is to be read.
    func discards(_ count: Int) -> Bool {
        guard let limit = discardLimit, limit >= count else { return false }
        discardLimit = limit - count
        return true
    }

    /// Makes libcurl forget all options.
    func reset() {
        setup = nil
        handshake = nil
        curl_easy_reset(raw)
    }

    /// What libcurl has to say about the last failure; may be empty.
    var errorMessage: String { String(cString: errorText) }

    /// Sets where the next transfer goes.
    func setURL(_ text: String) throws(Fault) {
        guard text != urlText else { return }
        urlText = nil
        let code = curl_url_set(url, CURLUPART_URL, text, UInt32(CURLU_PATH_AS_IS | CURLU_DISALLOW_USER))
        guard code == CURLUE_OK else { throw Fault(.invalidURL, String(cString: curl_url_strerror(code))) }
        urlText = text
    }

    /// Starts with no failure.
    func clearError() {
        errorText.pointee = 0
        handshake?.undecided = nil
    }

    /// Takes from libcurl what belongs to the transfer, and gives the look-up that it is at all the time that it needs.
    func forgetTransfer() {
        _ = afar_set_header_list(raw, nil)
        _ = afar_set_list(raw, CURLOPT_CONNECT_TO, nil)
        _ = afar_set_list(raw, CURLOPT_PROXYHEADER, nil)
        _ = afar_set_long(raw, CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
    }

    /// Frees the handle. Not in deinit: libcurl may call back while it cleans up.
    func close() {
        curl_easy_cleanup(raw)
        curl_url_cleanup(url)
        errorText.deallocate()
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return afar_get_long(raw, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return afar_get_offset(raw, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    func string(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard afar_get_string(raw, info, &value) == CURLE_OK, let value, value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
