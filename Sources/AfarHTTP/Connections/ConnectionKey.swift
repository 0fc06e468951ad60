import AfarTransport
import HTTPTypes

/// Everything that distinguishes connections: a request can use a connection with an equal key only.
struct ConnectionKey: Hashable {
    /// The host's name or address, without brackets, in lower case.
    let host: String
    let port: Int

    /// The key for a request, which has been validated.
    init(_ request: HTTPRequest) {
        let authority = request.authority ?? ""
        (host, port) = Self.split(authority.allBytes { !$0.isCapital } ? authority : authority.asciiLowercased)
    }

    private static func split(_ authority: String) -> (String, Int) {
        var (name, port) = (authority[...], 80)
        if let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")), authority.utf8.last != UInt8(ascii: "]") {
            name = authority[..<colon]
            port = Int(authority[colon...].dropFirst()) ?? 80
        }
        if name.utf8.first == UInt8(ascii: "[") { name = name.dropFirst().dropLast() }
        return (String(name), port)
    }

    /// The origin for statistics.
    var origin: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "http://\(name)" + (port == 80 ? "" : ":\(port)")
    }
}
