import AfarStages
import Foundation
import HTTPTypes

/// Bodies with checksums that identify their response and show whether they are complete.
enum ChecksummedBody {
    static func response(_ url: String, bytes: Int) -> CachedResponse {
        let text = url + " " + String(repeating: "\(UInt64.random(in: .min ... .max))", count: bytes / 20)
        let body = Data("\(checksum(of: text)) \(text)".utf8)
        return CachedResponse(
            url: url, variant: "", status: 200, fields: [:], body: body, requestDate: .now, responseDate: .now)
    }

    static func isWhole(_ body: Data, of url: String) -> Bool {
        let parts = String(decoding: body, as: UTF8.self).split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return false }
        return parts[0] == String(checksum(of: String(parts[1]))) && parts[1].hasPrefix(url + " ")
    }

    /// FNV-1a.
    private static func checksum(of text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
