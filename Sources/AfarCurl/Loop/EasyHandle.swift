import AfarTransport
import CLibcurl
import Foundation

/// One of libcurl's transfer handles, with its error text. It belongs to one loop's thread.
///
/// A handle is added to a multi handle once. Before 8.1, a handle that is added again keeps a pointer into the freed fields of its
/// last response, and libcurl writes there when the first field line of the next response begins with a space or a tab.
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    /// The transfer that the handle works for.
    @exclusivity(unchecked) var transfer: Transfer?
    /// What watches over the handshakes of the handle's transfers; nil where libcurl does that alone.
    @exclusivity(unchecked) var handshake: Handshake?
    /// How much more may come that nobody wants, from when there is no transfer for it.
    @exclusivity(unchecked) private var discardLimit: Int?
    let errorText: UnsafeMutablePointer<CChar>

    init?() {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
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

    /// What libcurl has to say about the last failure; may be empty.
    var errorMessage: String { String(cString: errorText) }

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
