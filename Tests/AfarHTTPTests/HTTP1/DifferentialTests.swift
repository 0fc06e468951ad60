#if canImport(AfarCurl)
    import AfarCurl
    import AfarTestServer
    import AfarTransport
    import Foundation
    import HTTPTypes
    import Testing

    @testable import AfarHTTP

    /// The same responses, parsed here and by `CurlTransport`, which adds checks of its own to libcurl's. Where they disagree, the
    /// reason is listed.
    @Suite(.timeLimit(.minutes(2))) struct DifferentialTests {
        private static let cases =
            ResponseParserTests.lines + ResponseParserTests.statusLines + ResponseParserTests.fields
            + ResponseParserTests.lengths
            + ResponseParserTests.chunks + ResponseParserTests.connections + ResponseParserTests.informational
            + ResponseParserTests.ends

        /// The cases about which the two disagree.
        private static let disagreements = [
            "a later minor version": "RFC 9110, section 2.5: a later minor version of HTTP/1 is read as HTTP/1.1.",
            "another major version": "RFC 9112 frames messages of HTTP/1 only.",
            "white space before the colon of a length": "libcurl ignores the length, others use it.",
            "white space before the colon of a coding": "libcurl ignores the coding, others use it.",
            "LF alone after an extension":
                "RFC 9112, section 7.1 requires CRLF. Others read the LF as a part of the extension.",
            "two sizes": "libcurl ignores what follows the size, and the body ends too early.",
            "an extension with a NUL byte": "libcurl ignores the extension, and the body ends too early.",
            "a bare CR in an extension": "libcurl ignores the extension, and the body ends too early.",
            "CR alone after a size": "libcurl ignores what follows the CR, and the body ends too early.",
        ]

        /// The cases about which versions of libcurl disagree with each other.
        private static let versionDependent = [
            "a bare CR in a value": "Refused by libcurl 8.23.",
            "a bare CR in the status line": "Refused by libcurl 8.23.",
            "two CRs before LF": "Refused by libcurl 8.23.", "17 digits": "Accepted by libcurl 8.23.",
            "a folded Transfer-Encoding": "Another error in libcurl 8.23.",
            "4: another coding": "Another error in libcurl 8.23.",
            "4: chunked isn't last": "Another error in libcurl 8.23.",
            "4: not quite chunked": "Another error in libcurl 8.23.",
        ]

        @Test func responsesAreTheSameToLibcurl() async throws {
            let transport = CurlTransport()
            let cases = Self.cases.filter { test in
                test.method != .connect && !test.asksForUpgrade && test.endOfInput == .closed
                    && Self.versionDependent[test.section] == nil
            }
            for test in cases {
                let server = try await RawServer.start([.receiveHead, .send(test.response), .close])
                var exchange = Exchange(
                    request: HTTPRequest(
                        method: test.method, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/"))
                exchange.options.decodesContent = false
                var theirs: String
                do {
                    let response = try await transport.send(exchange)
                    guard case .data(let body) = response.body else { continue }
                    theirs = "\(response.head.status) \(String(decoding: body, as: UTF8.self))"
                } catch let error as TransportError { theirs = "\(error.code)" }
                let ours = Self.outcome(of: test)
                if (ours == theirs) == (Self.disagreements[test.section] != nil) {
                    Issue.record(
                        "\(test.section): ours \(ours), libcurl's \(theirs): \(test.response.debugDescription)")
                }
                await server.stop()
            }
        }

        /// Status and body, or the error's code.
        private static func outcome(of test: ResponseParserTests.Case) -> String {
            var parser = ResponseParser(
                .init(method: test.method, url: "http://127.0.0.1/"), options: ExchangeOptions())
            let bytes = Array(test.response.utf8)
            var (status, body, offset) = (0, [UInt8](), 0)
            func note(_ event: ResponseParser.Event) {
                switch event {
                case .informational, .end: break
                case .head(let head): status = head.status
                case .body(let range): body += bytes[range]
                }
            }
            do {
                try bytes.withUnsafeBytes { bytes in
                    while let event = try parser.next(in: bytes, at: &offset) { note(event) }
                }
                if let event = try parser.receiveEndOfInput(isClean: true) { note(event) }
                return "\(status) \(String(decoding: body, as: UTF8.self))"
            } catch { return (error as? HTTP1Error).map { "\($0.code)" } ?? "\(error)" }
        }
    }
#endif
