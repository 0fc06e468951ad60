import CLibcurl

/// One of libcurl's transfer handles, with its error text. It belongs to one loop's thread.
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    /// Whether other transfers use the handle again. libcurl sets a buffer's size only on a fresh handle, so a handle
    /// with a large one is used once.
    let isReusable: Bool
    private let errorText: UnsafeMutablePointer<CChar>

    init?(isReusable: Bool) {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
        self.isReusable = isReusable
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// What libcurl has to say about the last failure; may be empty.
    var errorMessage: String { String(cString: errorText) }

    func useErrorText(_ set: (UnsafeMutablePointer<CChar>) throws -> Void) rethrows {
        errorText.pointee = 0
        try set(errorText)
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
