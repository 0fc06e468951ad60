import Afar
import AfarTestServer
import Foundation
import Testing

/// An app's retry policies and their results.
@Suite struct RetryPolicyTests {
    @Test func aPolicysSettingsApply() async throws {
        let server = try await TestServer.start()
        let policy = BusyRetryPolicy()
        #expect(policy.retryLimit == 3 && policy.exponentialBackoffScale == 0.001)
        let request = AF.request(server.url("/status/429"), method: .post, interceptor: policy).validate()
        #expect(await request.serializingData().response.error?.responseCode == 429)
        #expect(request.retryCount == 3)
        let closed = AF.request("http://127.0.0.1:1/", interceptor: LostRetryPolicy())
        #expect(await closed.serializingData().response.error?.isSessionTaskError == true)
        #expect(closed.retryCount == 0)
        await server.stop()
    }

    @Test func retryResultsExposeTheirValues() {
        let answers: [RetryResult] = [
            .retry, .retryWithDelay(2), .doNotRetry, .doNotRetryWithError(URLError(.badURL)),
        ]
        #expect(answers.map(\.retryRequired) == [true, true, false, false])
        #expect(answers.map(\.delay) == [nil, 2, nil, nil])
        #expect(answers.map { $0.error is URLError } == [false, false, false, true])
    }

    @Test func anAdapterCanBeTestedInIsolation() async {
        let state = RequestAdapterState(requestID: UUID(), session: AF)
        let adapted = await withCheckedContinuation { continuation in
            StateAdapter().adapt(URLRequest(url: URL(fileURLWithPath: "/")), using: state) {
                continuation.resume(returning: try? $0.get())
            }
        }
        #expect(adapted?.headers["X-Identifier"] == state.requestID.uuidString)
    }
}
