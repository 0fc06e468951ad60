import HTTPTypes

extension HTTPRequest {
    /// The authority as it is sent in the `Host` field. The zone of an IPv6 address isn't sent.
    var sentAuthority: String {
        let authority = authority ?? ""
        guard authority.utf8.first == UInt8(ascii: "["), let zone = authority.firstIndex(of: "%"),
            let end = authority[zone...].firstIndex(of: "]")
        else { return authority }
        return String(authority[..<zone] + authority[end...])
    }
}
