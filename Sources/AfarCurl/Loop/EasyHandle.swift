import AfarTransport
import CLibcurl
import Foundation

/// A libcurl easy handle and its error buffer. It belongs to the thread of one loop.
///
/// A handle is added to a multi handle only once. Before libcurl 8.1, a handle that is added again keeps a pointer into the freed
/// fields of its last response. If the first field line of the next response begins with a space or a tab, libcurl writes to the
/// freed memory.
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    @exclusivity(unchecked) var transfer: Transfer?
    /// The object that controls the handle's TLS handshakes, if needed.
    @exclusivity(unchecked) var handshake: Handshake?
    /// The lookup that continues after the transfer has ended, if any.
    @exclusivity(unchecked) var lookup: LookupLimiter<Transfer>.Number?
    /// How many more bytes of an abandoned response to read; nil if the rest of the response isn't read.
    @exclusivity(unchecked) private var discardLimit: Int?
    let errorText: UnsafeMutablePointer<CChar>

    init?() {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// Returns the handle that libcurl passes to a callback. The handle exists as long as libcurl uses it.
    static func from(_ context: UnsafeMutableRawPointer) -> EasyHandle {
        Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// The pointer that libcurl passes to callbacks, for ``from(_:)``.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Makes libcurl read the rest of the response and discard it, after the transfer has ended.
    func discard() { discardLimit = Self.longestBodyToDiscard }

    private static let longestBodyToDiscard = 64 * 1024 * 1024

    /// Returns whether to read and discard bytes that arrived after the transfer had ended.
    func discards(_ count: Int) -> Bool {
        guard let limit = discardLimit, limit >= count else { return false }
        discardLimit = limit - count
        return true
    }

    /// libcurl's message for the last failure, which can be empty.
    var errorMessage: String { String(cString: errorText) }

    /// Removes the transfer's data from libcurl, and removes the time limit of its current lookup.
    func clearTransfer() {
        _ = afar_set_header_list(raw, nil)
        _ = afar_set_list(raw, CURLOPT_CONNECT_TO, nil)
        _ = afar_set_list(raw, CURLOPT_RESOLVE, nil)
        _ = afar_set_list(raw, CURLOPT_PROXYHEADER, nil)
        _ = afar_set_long(raw, CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
    }

    /// Frees the handle. This must not happen in `deinit`, because libcurl can call back while it cleans up.
    func close() {
        curl_easy_cleanup(raw)
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
