import AfarSerializers
import AfarTesting
import Foundation
import HTTPTypes
import Testing

@testable import AfarCLI
@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A secret in 10,000 URLs and headers is never shown, logged or stored. The redaction itself is tested with all of
/// them. Errors, responses, logs and the tool are slower, so each of these is tested with a subset.
@Suite struct RedactionFuzzTests {
    private static let count = 10_000
    /// The rounds run concurrently, so that they use all processors.
    private static let rounds = 4

    /// Calls a closure with the secrets of a round, and records an issue for each secret that is shown.
    ///
    /// - Parameter share: Selects one of every `of` secrets, beginning with number `first`.
    private func forEachSecret(
        in round: Int, share: (of: Int, first: Int) = (1, 0),
        _ look: (PlantedSecret, (String, String) -> Void) throws -> Void
    ) throws {
        for number in stride(from: round, to: Self.count, by: Self.rounds)
        where number / Self.rounds % share.of == share.first {
            let secret = PlantedSecret(number: number)
            try look(secret) { place, text in
                if secret.isIn(text) { Issue.record("\(place) of \(number) shows \(secret.marker): \(text)") }
            }
        }
    }

    @Test(arguments: 0..<rounds) func urlsHeadersAndCommandsContainNoSecret(round: Int) throws {
        let redaction = Redaction.standard
        try forEachSecret(in: round) { secret, show in
            show("url", redaction.url(secret.url))
            show("broken url", redaction.url(secret.brokenURL))
            show("text", redaction.text("Is '\(secret.url)', or (\(secret.url)), right? See \(secret.url): it is."))
            for header in secret.headers { show(header.name, redaction.value(header.value, of: header.name)) }
            let command = CurlCommand(method: "GET", url: secret.url, headers: secret.headers, body: nil)
            show("curl", command.text(redaction))
            // Checks that the search finds an unredacted secret.
            #expect(secret.isIn(command.text(Redaction(showsSecrets: true))))
        }
    }

    @Test(arguments: 0..<rounds) func errorsContainNoSecret(round: Int) throws {
        try forEachSecret(in: round, share: (3, 0)) { secret, show in
            let url = try #require(URL(string: secret.url))
            let failure = TransportError(
                .timedOut, phase: .receiving, url: Self.withoutUserinfo(secret.url),
                message: "no word from \(secret.url)")
            let errors: [AFError] = [
                .invalidURL(url: secret.brokenURL), .invalidURL(url: secret.url),
                .createURLRequestFailed(error: AFError.InvalidRequest.ambiguousURL(url, reason: "it is \(url)")),
                .sessionTaskFailed(error: failure.urlError),
            ]
            for error in errors {
                show("error", "\(error)")
                if let cause = error.underlyingError { show("cause", "\(cause)") }
                show("tool's error", AfarCLI.Failure(error, url: secret.url).message)
            }
            show("message", failure.message)
        }
    }

    @Test(arguments: 0..<rounds) func responsesAndResumeDataContainNoSecret(round: Int) throws {
        try forEachSecret(in: round, share: (3, 1)) { secret, show in
            var request = URLRequest(url: try #require(URL(string: secret.url)))
            for header in secret.headers { request.setValue(header.value, forHTTPHeaderField: header.name) }
            var fields = HTTPFields(
                secret.headers.compactMap { header in
                    HTTPField.Name(header.name).map { HTTPField(name: $0, value: header.value) }
                })
            fields[.eTag] = "\"1\""
            let head = ResponseHead(status: 200, fields: fields, url: Self.withoutUserinfo(secret.url))
            let response = AFDataResponse<String>(
                request: request, response: head.httpURLResponse, data: nil, metrics: nil, serializationDuration: 0,
                result: .failure(.explicitlyCancelled))
            show("response", "\(response) \(response.debugDescription)")
            // Resume data keeps parameters, because the rest of the file can't be requested without them.
            guard !secret.isInParameter else { return }
            let data = try #require(ResumeData(head, to: request, in: URL(filePath: "/tmp/part")))
            show("resume data", String(decoding: data.encoded(), as: UTF8.self))
        }
    }

    @Test(arguments: 0..<rounds) func logsContainNoSecret(round: Int) async throws {
        let entries = Locked<[String]>([])
        let monitor = LoggingMonitor(.debug) { entry in
            entries.withLock { $0.append("\(entry) \(entry.metadata)") }
        }
        let session = Session(
            eventMonitors: [monitor],
            transport: MockTransport { request in
                var response = MockResponse.text("no", status: 404)
                response.fields.append(contentsOf: request.exchange.request.headerFields)
                return response
            })
        // Each request creates about a dozen entries.
        for number in stride(from: round, to: Self.count, by: Self.rounds * 20) {
            let secret = PlantedSecret(number: number)
            let request = session.request(secret.url, headers: secret.headers).validate()
            _ = await request.serializingData().response
            monitor.queue.sync {}
            let texts = [
                entries.withLock { entries in
                    defer { entries = [] }
                    return entries.joined(separator: "\n")
                }, "\(request)", request.debugDescription, request.cURLDescription(redactingSecrets: true),
                RequestSummary(request).text,
            ]
            for text in texts where secret.isIn(text) {
                Issue.record("\(number) shows \(secret.marker): \(text)")
            }
        }
    }

    @Test(arguments: 0..<rounds) func theToolsOutputContainsNoSecret(round: Int) throws {
        let lines = Locked("")
        let log = VerboseLog(style: Style(.never, output: .standardError), redaction: .standard) { text in
            lines.withLock { $0 += text }
        }
        try forEachSecret(in: round, share: (3, 2)) { secret, show in
            lines.withLock { $0 = "" }
            let request = try? URLRequest(url: secret.url, method: .get, headers: secret.headers)
            guard let request, let head = try? HTTPRequest(request, bodyLength: nil) else { return }
            log.sending(Exchange(request: head, body: .none))
            log.received(ResponseHead(status: 302, fields: head.headerFields, url: secret.url))
            log.failed(TransportError(.invalidRedirect, phase: .receiving, url: secret.url, message: secret.url))
            show("verbose", lines.withLock { $0 })
        }
    }

    /// Returns the URL without userinfo, as transports receive it.
    private static func withoutUserinfo(_ url: String) -> String {
        URL(string: url).flatMap(ResumeData.withoutUserinfo)?.absoluteString ?? url
    }
}
