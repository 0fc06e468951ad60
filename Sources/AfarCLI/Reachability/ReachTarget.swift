import Afar
import Foundation

/// The host of `afar reach`.
struct ReachTarget {
    let monitored: NetworkMonitor.Target

    /// - Throws: ``Failure`` when the text is neither a name nor an address: it could never be looked up.
    init(_ text: String) throws(Failure) {
        if let address = IPAddress(text) {
            monitored = .address(address)
        } else if text.wholeMatch(of: /\[[0-9A-Fa-f:.]+(%[^\]]+)?\]|[\p{L}\p{N}_]([\p{L}\p{N}_.\-]*)/) != nil,
            text.utf8.count <= 253
        {
            monitored = .host(text)
        } else {
            let host = text.contains("/") ? URL(string: text)?.host : nil
            let hint = host.map { "Perhaps you meant: afar reach \($0)" } ?? "Take one like example.com or 192.0.2.1."
            throw Failure(.usage, "\"\(text)\" is neither the name nor the address of a host. \(hint)")
        }
    }
}
