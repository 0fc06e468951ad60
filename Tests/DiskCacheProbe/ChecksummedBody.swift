import AfarTransport
import Foundation

/// Bodies that tell whether they are whole, and whose they are.
enum ChecksummedBody {
    static func response(_ url: String, bytes: Int) -> CachedResponse {
        let text = url + " " + String(repeating: "\(UInt64.random(in: .min ... .max))", count: bytes / 20)
        let body = Data("\(SHA256.hexDigest(of: text))\(text)".utf8)
        return CachedResponse(
            url: url, variant: "", status: 200, fields: [:], body: body, requestDate: .now, responseDate: .now)
    }

    static func isWhole(_ body: Data, of url: String) -> Bool {
        let text = String(decoding: body.dropFirst(64), as: UTF8.self)
        return body.starts(with: SHA256.hexDigest(of: text).utf8) && text.hasPrefix(url + " ")
    }
}
