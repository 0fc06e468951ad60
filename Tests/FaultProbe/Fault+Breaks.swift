import AfarTestServer
import Foundation

extension Fault {
    private static let whole = Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-A: b\r\n\r\n0123456789".utf8)
    private static let headLength = whole.count - 10

    static let closes: [Fault] = (0..<whole.count).map { count in
        Fault(
            family: "Closes at a byte", name: "closes after \(count) bytes",
            script: [.receiveHead, .send(Array(whole[..<count])), .close], expectation: .fails,
            urlSession: count < headLength ? Foundation(mayTrap: true) : nil)
    }

    static let resets: [Fault] = (0..<whole.count).map { count in
        Fault(
            family: "Resets at a byte", name: "resets after \(count) bytes",
            script: [.receiveHead, .send(Array(whole[..<count])), .wait(0.01), .reset], expectation: .fails)
    }

    private static let chunkedHead = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    private static let chunks = Array("5\r\n01234\r\n5;x=y\r\n56789\r\n0\r\nT: v\r\n\r\n".utf8)

    static let brokenChunks: [Fault] = (0..<chunks.count).flatMap { count in
        [("closes", RawServer.Step.close), ("resets", .reset)].map { name, end in
            let lacksLineFeed = count == chunks.count - 1
            return Fault(
                family: "Breaks amid chunks", name: "\(name) after \(count) bytes of chunks",
                script: [.receiveHead, .send(chunkedHead + chunks[..<count]), .wait(name == "resets" ? 0.01 : 0), end],
                expectation: lacksLineFeed
                    ? .either("only the last line feed after the complete body is missing") : .fails,
                urlSession: lacksLineFeed ? .acceptsOrTraps("as libcurl") : nil)
        }
    }

    private static let codings: [(name: String, bytes: [UInt8])] = [
        (
            "gzip",
            [
                31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 51, 48, 52, 50, 54, 49, 53, 51, 183, 176, 52, 192, 194, 2, 0, 148, 7,
                92,
                45, 30, 0, 0, 0,
            ]
        ),
        ("deflate", [120, 156, 51, 48, 52, 50, 54, 49, 53, 51, 183, 176, 52, 192, 194, 2, 0, 94, 131, 6, 40]),
        ("br", [27, 29, 0, 248, 197, 13, 198, 230, 37, 141, 24, 42, 20, 64, 80, 78, 103, 239, 1]),
        (
            "zstd",
            [
                40, 181, 47, 253, 4, 88, 133, 0, 0, 80, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 1, 0, 165, 11, 18, 226,
                46,
                131, 240,
            ]
        ),
    ]

    static let truncatedCodings: [Fault] = codings.flatMap { coding in
        (1..<coding.bytes.count).map { count in
            Fault(
                family: "Truncated codings", name: "\(coding.name) ends after \(count) bytes",
                script: [
                    .receiveHead,
                    .send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding.name)\r\nContent-Length: \(count)\r\n\r\n"),
                    .send(Array(coding.bytes[..<count])),
                ],
                expectation: .fails,
                urlSession: .accepts("libcurl decodes for Foundation and doesn't report truncation"))
        }
    }
}
