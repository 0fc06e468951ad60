import CLibcurl

/// The TLS sessions and host addresses that the pools of a loop share.
final class CurlShare {
    let raw: UnsafeMutableRawPointer

    init?() {
        guard let raw = curl_share_init() else { return nil }
        self.raw = raw
        _ = afar_share(raw, CURL_LOCK_DATA_SSL_SESSION)
        _ = afar_share(raw, CURL_LOCK_DATA_DNS)
    }

    // This is safe because the pools that use the share no longer exist.
    deinit { curl_share_cleanup(raw) }
}
