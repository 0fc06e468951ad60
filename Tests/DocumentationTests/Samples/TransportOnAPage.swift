import AfarConformance
import AfarTransport
import Foundation
import HTTPTypes
import Testing

/// Answers requests in this process with a function, such as a server's router.
struct InProcessTransport: Transport {
    let respond: @Sendable (HTTPRequest, Data) async throws -> (HTTPResponse, Data)

    let capabilities = TransportCapabilities(
        name: "in process",
        features: [.fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .anyMethod])

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        try capabilities.check(exchange)
        return try await withThrowingTaskGroup(of: TransportResponse.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await perform(exchange) }
            group.addTask {
                try await Task.sleep(for: .seconds(exchange.options.totalTimeout))
                throw TransportError(
                    .timedOut, phase: .awaitingResponse, url: exchange.url, message: "the total timeout has passed")
            }
            do {
                for try await response in group { return response }
            } catch is CancellationError {}
            throw TransportError(
                .cancelled, phase: .awaitingResponse, url: exchange.url, message: "the exchange was cancelled")
        }
    }

    private func perform(_ exchange: Exchange) async throws -> TransportResponse {
        var request = exchange.request
        request.headerFields = exchange.fields
        let (response, body) = try await respond(request, exchange.collectBody())
        let head = ResponseHead(status: response.status.code, fields: response.headerFields, url: exchange.url)
        return try await exchange.answer(with: head, body: body)
    }
}

@Suite struct TransportOnAPage {
    @Test func theSuiteIsPassed() async throws {
        let subject = ConformanceSubject(
            "in process", hasSockets: false,
            exclusions: ["a stream is returned when its head arrives": "a response is whole when it comes"]
        ) {
            InProcessTransport { request, body in
                let answer = ConformanceServer.response(
                    to: .init(
                        method: request.method.rawValue, target: request.path ?? "/", fields: request.headerFields,
                        body: body))
                try await Task.sleep(for: answer.delay + answer.pause * answer.pieces)
                return (HTTPResponse(status: .init(code: answer.status), headerFields: answer.fields), answer.body)
            }
        }
        for (test, error) in await subject.failures(of: ConformanceCase.all) {
            Issue.record("\(test): \(error)")
        }
    }
}
