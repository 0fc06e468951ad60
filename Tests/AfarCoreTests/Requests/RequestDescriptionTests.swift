import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Descriptions of requests before, during and after they run.
@Suite struct RequestDescriptionTests {
    @Test func anUncreatedURLRequestIsReported() {
        let request = Session(transport: MockTransport { _ in .text("ok") }).request("http://mock/")
        #expect(request.description == "A request without a URLRequest")
        #expect(
            request.debugDescription == """
                State: initialized
                Request: none
                Response: none
                Error: none
                """)
    }

    @Test func aFinishedRequestDescribesItsOutcome() async {
        let interceptor = Scripted(
            retrying: { request, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry) })
        let session = Session(interceptor: interceptor, transport: MockTransport { _ in .text("no", status: 404) })
        let request = session.request("http://ada:hush@mock/a?api_key=hush", headers: ["X-One": "1"]).validate()
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.description == "GET http://***@mock/a?api_key=*** (404)")
        let text = request.debugDescription
        #expect(
            text.hasPrefix(
                """
                State: finished, 1 retry
                Request: GET http://***@mock/a?api_key=***
                  X-One: 1
                Response: 404
                """))
        #expect(text.contains("\nError: The response was not acceptable: Its status code is 404.\n"))
        #expect(text.contains("\nMetrics: 1 request in "))
        #expect(!text.contains("hush"))
    }

    @Test func aHostileHeaderCannotStartALine() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/") {
            $0.setValue("\u{1B}[2J", forHTTPHeaderField: "X-Evil")
        }
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.debugDescription.contains("\n  X-Evil: \\u001B[2J\n"))
    }
}
