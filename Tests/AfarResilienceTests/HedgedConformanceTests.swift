import AfarConformance
import AfarCore
import AfarResilience
import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes
import Testing

#if os(Linux)
    import AfarHTTP

    /// Runs the conformance suite with two requests for each exchange that can be hedged.
    @Suite struct HedgedConformanceTests {
        private static let exclusions: [String: String] = {
            let connections = [
                "a connection serves several requests in sequence", "a connection that the server closes is not reused",
                "a connection with an unread body is not reused",
                "a discarded body is read, and its connection is reused",
                "a connection that the policy refuses is not opened, and no other one is used",
                "the addresses of a resolver are used, and only by exchanges with this resolver",
            ].map { ($0, "two requests use two connections") }
            let others = [("interim responses are reported", "those of the second request aren't")]
            return Dictionary(uniqueKeysWithValues: connections + others)
        }()

        @Test(arguments: [false, true])
        func hedgedTransportsPassTheConformanceSuite(isPlain: Bool) async {
            let subject = ConformanceSubject(isPlain ? "hedged async" : "hedged", exclusions: Self.exclusions) {
                let hedging = Hedging(
                    delay: .fixed(.zero), maximumRatio: 1, methods: [.get, .head, .options, .put, .delete])
                let base = HTTPTransport()
                return Resilience(hedging: hedging).transport(around: isPlain ? PlainTransport(base: base) : base)
            }
            for (test, error) in await subject.failures(of: ConformanceCase.all) {
                Issue.record("\(subject): \(test): \(error)")
            }
        }

        /// A second preconnection would succeed at once, because the first one counts.
        @Test(.timeLimit(.minutes(1))) func preconnectionsArentHedged() async throws {
            let server = try await RawServer.start([.waitForever])
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let resilience = Resilience(hedging: Hedging(delay: .fixed(.zero), maximumRatio: 1))
            var configuration = SessionConfiguration.default
            configuration.exchangeOptions.connectTimeout = 0.3
            let session = resilience.makeSession(
                configuration: configuration, transport: HTTPTransport())
            let error = await #expect(throws: AFError.self) { try await session.preconnect(to: url) }
            #expect(error?.transportError?.code == .timedOut)
        }
    }
#endif
