import AfarTestServer
import Foundation
import Testing

/// Responses with excessive `Content-Length` values.
struct ForeignLengthTests {
    private static func end(of length: String, over transport: String) async throws -> Tool.Outcome {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabc"), .close,
        ])
        return try await Tool.run(
            ["get", server.url.absoluteString, "--transport", transport], environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    @Test(arguments: ["9223372036854775295", "9223372036854775296", "9223372036854775807", "9223372036854775808"])
    func overCurlAnEnormousLengthIsAnError(length: String) async throws {
        #expect(try await Self.end(of: length, over: "curl").status == 6)
    }

    #if os(Linux)
        /// Documents `URLSessionTransport.Limitation.enormousContentLength`. Remove that limitation if this test fails.
        @Test(arguments: [
            ("9223372036854775295", false), ("9223372036854775296", true), ("9223372036854775807", true),
            ("9223372036854775808", false),
        ])
        func overURLSessionSomeLengthsEndTheProcess(length: String, endsTheProcess: Bool) async throws {
            let outcome = try await Self.end(of: length, over: "urlsession")
            #expect(endsTheProcess ? outcome.status < 0 : outcome.status == 6, "\(outcome.status): \(outcome.errors)")
        }
    #endif
}
