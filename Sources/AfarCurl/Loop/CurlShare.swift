import CLibcurl

/// What a loop's pools share: TLS sessions, and the addresses of hosts.
final class CurlShare {
    let raw: UnsafeMutableRawPointer

    init?() {
        guard let raw = curl_share_init() else { return nil }
        self.raw = raw
        _ = afar_share(raw, CURL_LOCK_DATA_SSL_SESSION)
        _ = afar_share(raw, CURL_LOCK_DATA_DNS)
    }

    // The pools that have it are gone, with all that libcurl would call back for.
    deinit { curl_share_cleanup(raw) }
}
