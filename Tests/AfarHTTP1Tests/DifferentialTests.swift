#if os(Linux)
    import AfarTestServer
    import AfarTransport
    import CLibcurl
    import Foundation
    import HTTPTypes
    import Testing

    @testable import AfarHTTP1

    /// Compares the parser with libcurl for the same responses. Each difference is listed with its reason.
    @Suite(.timeLimit(.minutes(2))) struct DifferentialTests {
        private static let cases =
            ResponseParserTests.lines + ResponseParserTests.statusLines + ResponseParserTests.fields
            + ResponseParserTests.lengths
            + ResponseParserTests.chunks + ResponseParserTests.connections + ResponseParserTests.informational
            + ResponseParserTests.ends

        /// The cases in which the parser and libcurl differ.
        private static let disagreements = [
            "a later minor version": "RFC 9110, section 2.5: a later minor version of HTTP/1 is read as HTTP/1.1.",
            "another major version": "RFC 9112 frames messages of HTTP/1 only.",
            "white space before the colon of a length": "libcurl ignores the length, others use it.",
            "white space before the colon of a coding": "libcurl ignores the coding, others use it.",
            "a line of CR alone": "libcurl takes any line that begins with CR for the end of the head.",
            "another case": "RFC 9112, section 2.3: the version is case-sensitive.",
            "5: beyond 63 bits": "libcurl ignores the field.",
            "a trailer that begins with white space": "There is no field that the line could continue.",
            "within the head": "libcurl takes the end of the connection for the end of the head.",
            "LF alone after an extension":
                "RFC 9112, section 7.1 requires CRLF. Others read the LF as a part of the extension.",
        ]

        /// The cases in which versions of libcurl differ.
        private static let versionDependent = [
            "a bare CR in a value": "Refused by libcurl 8.23.",
            "a bare CR in the status line": "Refused by libcurl 8.23.",
            "two CRs before LF": "Refused by libcurl 8.23.", "17 digits": "Accepted by libcurl 8.23.",
            "white space before the first field": "Accepted by libcurl 8.23.",
            "four digits": "Accepted by libcurl 8.23.", "a tab": "Accepted by libcurl 8.23.",
            "a folded Transfer-Encoding": "Accepted by libcurl 7.88.",
            "4: not quite chunked": "Accepted by libcurl 7.88.",
            "two spaces": "Accepted by libcurl 7.88.", "5: hexadecimal": "Accepted by libcurl 7.88.",
        ]

        @Test func responsesAreParsedAsByLibcurl() async throws {
            let cases = Self.cases.filter { test in
                test.method != .connect && !test.requestsUpgrade && test.endOfInput == .closed
                    && Self.versionDependent[test.section] == nil
            }
            for test in cases {
                let server = try await RawServer.start([.receiveHead, .send(test.response), .close])
                let theirs = await Self.libcurlOutcome(of: test, port: Int(server.port))
                let ours = Self.outcome(of: test)
                if (ours == theirs) == (Self.disagreements[test.section] != nil) {
                    Issue.record(
                        "\(test.section): ours \(ours), libcurl's \(theirs): \(test.response.debugDescription)")
                }
                await server.stop()
            }
        }

        /// Returns the status and body as parsed by libcurl, or "failed".
        private static func libcurlOutcome(of test: ResponseParserTests.Case, port: Int) async -> String {
            await withCheckedContinuation { continuation in
                Thread {
                    continuation.resume(returning: LibcurlResponse(test.method, port: port).outcome)
                }.start()
            }
        }

        /// Returns the status and body, or "failed".
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
            } catch { return "failed" }
        }
    }

    /// A response received with libcurl directly, without `CurlTransport`.
    private final class LibcurlResponse {
        private var body: [UInt8] = []
        private(set) var outcome = "failed"

        init(_ method: HTTPRequest.Method, port: Int) {
            guard let easy = curl_easy_init() else { return }
            defer { curl_easy_cleanup(easy) }
            _ = afar_set_string(easy, CURLOPT_URL, "http://127.0.0.1:\(port)/")
            _ = afar_set_string(easy, CURLOPT_PROXY, "")
            _ = afar_set_long(easy, CURLOPT_NOSIGNAL, 1)
            _ = afar_set_long(easy, CURLOPT_TIMEOUT_MS, 10_000)
            if method == .head { _ = afar_set_long(easy, CURLOPT_NOBODY, 1) }
            _ = afar_set_write_function(
                easy,
                { bytes, size, count, context in
                    guard let context else { return 0 }
                    let response = Unmanaged<LibcurlResponse>.fromOpaque(context).takeUnretainedValue()
                    response.body += UnsafeRawBufferPointer(start: bytes, count: size * count)
                    return size * count
                }, Unmanaged.passUnretained(self).toOpaque())
            guard curl_easy_perform(easy) == CURLE_OK else { return }
            var status = 0
            _ = afar_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
            outcome = "\(status) \(String(decoding: body, as: UTF8.self))"
        }
    }
#endif
