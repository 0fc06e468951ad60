import AfarHTTP1
import AfarTransport
import Foundation
import HTTPTypes

extension Subject {
    /// HTTP/1.1 responses. The outcome must not depend on the pieces into which the bytes are divided.
    static let responses = [
        Subject("http1-response", seeds: responseSeeds, tokens: responseTokens) {
            (input, random) throws(Contradiction) in
            var request = ResponseParser.Request(
                method: random.pick([.get, .get, .head, .connect, .post]) ?? .get, url: "http://localhost/")
            request.requestsUpgrade = random.isOne(in: 3)
            request.closesConnection = random.isOne(in: 9)
            var options = ExchangeOptions()
            if random.isOne(in: 2) {
                options.maximumResponseHeadSize = 30 + random.number(below: 200)
                options.maximumFieldCount = random.number(below: 4)
                options.maximumInformationalResponses = random.number(below: 2)
            }
            let isClean = !random.isOne(in: 4)
            let bytes = [UInt8](input)
            let whole = try outcome(of: [bytes[...]], request, options, isClean: isClean)
            var pieces: [ArraySlice<UInt8>] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + 1 + random.number(below: random.isOne(in: 2) ? 3 : 40))
                pieces.append(bytes[start..<end])
                start = end
            }
            try Contradiction.check(
                whole.text, outcome(of: pieces, request, options, isClean: isClean).text, "the same bytes, divided")
            return whole.isComplete
        }
    ]

    private static func outcome(
        of pieces: [ArraySlice<UInt8>], _ request: ResponseParser.Request, _ options: ExchangeOptions, isClean: Bool
    ) throws(Contradiction) -> (text: String, isComplete: Bool) {
        var parser = ResponseParser(request, options: options)
        var (text, body, surplus, isComplete) = ("", [UInt8](), 0, false)
        func note(_ event: ResponseParser.Event) {
            switch event {
            case .informational(let head): text += "\(head.status) "
            case .head(let head): text += "\(head.status) \(head.fields) "
            case .body: break
            case .end: isComplete = true
            }
        }
        do {
            for piece in pieces {
                let piece = Array(piece)
                var offset = 0
                while let event = try piece.withUnsafeBytes({ bytes in
                    try parser.next(in: bytes, at: &offset)
                }) {
                    if case .body(let range) = event {
                        guard !range.isEmpty, range.upperBound == offset, offset <= piece.count else {
                            throw Contradiction("the body's range \(range) in \(piece.count) bytes ends at \(offset)")
                        }
                        body += piece[range]
                    }
                    note(event)
                }
                surplus += piece.count - offset
            }
            if let event = try parser.receiveEndOfInput(isClean: isClean) { note(event) }
        } catch let error as Fault {
            // Omits the bytes that the message quotes, because their number depends on the pieces.
            text += String(error.message.unicodeScalars.prefix { $0 != "\"" })
            do {
                _ = try parser.receiveEndOfInput(isClean: true)
                throw Contradiction("the parser continues after: \(error.message)")
            } catch let contradiction as Contradiction { throw contradiction } catch {}
        } catch let contradiction as Contradiction {
            throw contradiction
        } catch {
            throw Contradiction("\(error)")
        }
        let isReusable = parser.isReusable(remainingByteCount: surplus, isRequestSent: true)
        guard parser.bodyByteCount == Int64(body.count), !isReusable || isComplete else {
            throw Contradiction(
                "\(body.count) bytes of a body, \(parser.bodyByteCount) counted, reusable \(isReusable)")
        }
        return ("\(text) | \(body) | \(parser.trailers) | \(surplus) \(isComplete) \(isReusable)", isComplete)
    }

    private static let responseSeeds = [
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n5;x=y\r\nhello\r\n0a\r\n0123456789\r\n0\r\nX: 1\r\n\r\n",
        "HTTP/1.1 103 Hints\nLink: a\n\nHTTP/1.0 404 No\nKeep-Alive: timeout=5\n folded\n\nuntil the end",
        "HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nearly",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ]

    private static let responseTokens = [
        "\r\n", "\n", "\r", ":", " ", "\t", ";", ",", "0", "5", "f", "\0", "HTTP/1.1 ", "HTTP/1.0 ", "200", "204",
        "100", "Content-Length: ",
        "Transfer-Encoding: chunked\r\n", "Connection: close\r\n", "\r\n\r\n", "0\r\n\r\n", "ffffffffffffffff",
        "identity", "gzip, chunked",
    ]
}
