import AfarTestServer

/// The behavior of a misbehaving server. It is the same for every connection.
enum Script: String, CaseIterable, Codable {
    case closesBeforeTheHead
    case sendsMalformedHead
    case sendsLargeHead
    case closesWithinTheBody
    case resetsWithinTheBody
    /// Redirects to itself once before each record. The redirect's body arrives late.
    case redirects
    case keepsSilent
    /// Sends a record slowly, on a persistent connection.
    case drips

    /// The time it takes to send the body of `drips`.
    static let dripNanoseconds: UInt64 = 20_000_000

    var steps: [RawServer.Step] {
        switch self {
        case .closesBeforeTheHead: [.receiveHead, .close]
        case .sendsMalformedHead: [.respond("HTTP/1.1 OK 200\r\nContent-Length: 0\r\n\r\n"), .close]
        case .sendsLargeHead:
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\n"),
                .send(String(repeating: "X-Long: \(String(repeating: "x", count: 990))\r\n", count: 16)),
                .send("Content-Length: 0\r\n\r\n"), .close,
            ]
        case .closesWithinTheBody: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"), .close]
        case .resetsWithinTheBody: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"), .reset]
        case .redirects:
            [
                .loop([
                    .respond("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 4\r\n\r\n"), .wait(0.001),
                    .send("body"),
                    .respond("HTTP/1.1 200 OK\r\nContent-Length: \(Record.json.utf8.count)\r\n\r\n\(Record.json)"),
                ])
            ]
        case .keepsSilent: [.receiveHead, .waitForever]
        case .drips:
            [
                .loop([
                    .respond("HTTP/1.1 200 OK\r\nContent-Length: \(Record.json.utf8.count + 20_000)\r\n\r\n"),
                    .repeat(
                        String(repeating: " ", count: 2_000), every: Double(Self.dripNanoseconds) / 10 / 1e9, times: 10),
                    .send(Record.json),
                ])
            ]
        }
    }
}
