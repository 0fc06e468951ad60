import AfarTestServer
import Foundation

extension Fault {
    private static let tooMuch = Foundation(
        mayHang: true, mayBe: .either("Foundation has no such limit"))

    static let drips: [Fault] = [
        ("nothing at all", [RawServer.Step.receiveHead, .waitForever]),
        ("not even the request is read", [.waitForever]),
        ("a head, a byte at a time", [.receiveHead, .repeat("H", every: 0.1, times: 1000)]),
        ("a field that never ends", [.respond("HTTP/1.1 200 OK\r\nX: "), .repeat("x", every: 0.1, times: 1000)]),
        (
            "a body, a byte at a time",
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"), .repeat("x", every: 0.1, times: 1000)]
        ),
        ("a body that stops", [.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"), .waitForever]),
        (
            "a chunk that stops",
            [.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfour"), .waitForever]
        ),
        (
            "chunks without an end",
            [
                .respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                .repeat("1\r\nx\r\n", every: 0.1, times: 1000),
            ]
        ),
        (
            "interim responses without an end",
            [.receiveHead, .repeat("HTTP/1.1 102 Processing\r\n\r\n", every: 0.1, times: 1000)]
        ),
        (
            "trailers that stop",
            [.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: "), .waitForever]
        ),
        ("half of a close", [.receiveHead, .halfClose, .waitForever]),
        (
            "half of a close within the body",
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"), .halfClose, .waitForever]
        ),
    ].map {
        Fault(
            family: "Drips and silence", name: $0.0, script: $0.1, expectation: .fails)
    }

    static let floods: [Fault] = [
        (
            "300 kB of header fields",
            [
                RawServer.Step.receiveHead, .send("HTTP/1.1 200 OK\r\n"),
                .send(String(repeating: "X: \(String(repeating: "x", count: 990))\r\n", count: 300)),
                .send("Content-Length: 0\r\n\r\n"),
            ]
        ),
        (
            "5,000 header fields",
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\n"), .send(String(repeating: "X: y\r\n", count: 5_000)),
                .send("Content-Length: 0\r\n\r\n"),
            ]
        ),
        (
            "one field of a megabyte",
            [
                .receiveHead,
                .send("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 1_000_000))\r\nContent-Length: 0\r\n\r\n"),
            ]
        ),
        (
            "a thousand interim responses",
            [
                .receiveHead, .send(String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", count: 1000)),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ]
        ),
        (
            "header fields without an end",
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\n"),
                .repeat(String(repeating: "X: y\r\n", count: 2000), every: 0.001, times: 2_000),
            ]
        ),
        (
            "a body without an end",
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\n\r\n"),
                .repeat(String(repeating: "x", count: 100_000), every: 0, times: 100_000),
            ]
        ),
        (
            "chunks of a byte",
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                .repeat(String(repeating: "1\r\nx\r\n", count: 10_000), every: 0, times: 100_000),
            ]
        ),
        (
            "trailers without an end",
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"),
                .repeat(String(repeating: "T: v\r\n", count: 2000), every: 0.001, times: 2_000),
            ]
        ),
    ].map { Fault(family: "Floods", name: $0.0, script: $0.1, expectation: .fails, urlSession: tooMuch) }

    /// Gzip streams of zeros with the given size in megabytes, compressed once or twice.
    static let bombs: [Fault] = [("gzip", 20), ("gzip, gzip", 20)].map { coding, megabytes in
        let server = GzipBomb(layers: coding.split(separator: ",").count, megabytes: megabytes)
        return Fault(
            family: "Decompression bombs", name: "\(megabytes) MB in \(coding)",
            script: [
                .receiveHead,
                .send(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(server.bytes.count)\r\n\r\n"),
                .send(server.bytes),
            ], expectation: .fails)
    }

    private static let badPlace = Foundation.accepts(
        "Foundation parses a Location before any delegate is called")

    static let redirects: [Fault] =
        [
            ("to itself", "/"), ("to nowhere", ""), ("to a space", " "), ("to another scheme", "ftp://127.0.0.1/"),
            ("to a file", "file:///etc/passwd"), ("to a scheme alone", "http:"), ("to no host", "http:///x"),
            ("to an invalid port", "http://127.0.0.1:99999/"), ("to a port of words", "http://127.0.0.1:http/"),
            ("to an invalid host", "http://[::::]/"), ("to a host of control characters", "http://a\u{1}b/"),
            ("to data", "data:text/plain,x"), ("to javascript", "javascript:alert(1)"), ("to mail", "mailto:a@b"),
            ("to an open bracket", "http://[::1/"), ("to percent", "http://%zz/"),
            ("to a host of spaces", "http://a b/"),
            ("to a closed port", "http://127.0.0.1:1/"), ("to a user", "http://user@:80/"),
        ].map { name, location in
            Fault(
                family: "Redirects", name: name,
                script: [.loop([.respond("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")])],
                expectation: location.trimmingCharacters(in: .whitespaces).isEmpty
                    ? .either("an empty location, or itself") : .fails, urlSession: badPlace)
        }
        + [
            (
                "without a location", "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
                Expectation.succeeds("it is an ordinary response (RFC 9110, section 15.4)")
            ),
            ("a 304 with a location", "HTTP/1.1 304 No\r\nLocation: /x\r\n\r\n", .succeeds("it isn't a redirect")),
            ("two targets", "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", .fails),
            (
                "a truncated body", "HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 1000\r\n\r\nfour",
                .fails
            ),
        ].map { name, text, expectation in
            Fault(
                family: "Redirects", name: name, script: [.loop([.respond(text)])], expectation: expectation,
                urlSession: badPlace)
        }

    static let upgrades: [Fault] = [
        (
            "an unsolicited 101",
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        ),
        (
            "a 101 to HTTP/2",
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\u{0}\u{0}\u{0}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}"
        ),
        ("HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("TLS on a plain port", "\u{16}\u{3}\u{1}\u{0}\u{5}hello"),
        ("a 426", "HTTP/1.1 426 Upgrade\r\nUpgrade: TLS/1.0\r\nContent-Length: 5\r\n\r\nfour"),
    ].map {
        Fault(
            family: "Other protocols", name: $0.0, script: [.respond($0.1), .close], expectation: .fails)
    }
}
