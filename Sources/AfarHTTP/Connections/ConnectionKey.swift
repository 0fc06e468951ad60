import AfarTransport
import HTTPTypes

/// Everything that distinguishes connections: a request can use a connection with an equal key only.
struct ConnectionKey: Hashable {
    /// The host's name or address, without brackets, in lower case.
    let host: String
    let port: Int

    /// The key for a request.
    ///
    /// - Throws: `invalidURL` if the port isn't one.
    init(_ request: HTTPRequest) throws(HTTP1Error) {
        let authority = request.authority ?? ""
        var name = authority[...]
        var port = 80
        if let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")), authority.utf8.last != UInt8(ascii: "]") {
            let digits = authority[colon...].dropFirst()
            name = authority[..<colon]
            guard digits.utf8.allSatisfy(\.isDigit), let number = UInt16(digits.isEmpty ? "80" : digits) else {
                throw HTTP1Error(.invalidURL, "the port is not a number from 0 to 65535")
            }
            port = Int(number)
        }
        if name.utf8.first == UInt8(ascii: "[") { name = name.dropFirst().dropLast() }
        host = String(name).asciiLowercased
        self.port = port
    }

    /// The origin for statistics.
    var origin: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "http://\(name)" + (port == 80 ? "" : ":\(port)")
    }
}
