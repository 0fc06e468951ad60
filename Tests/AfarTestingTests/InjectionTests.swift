import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Code under test that doesn't depend on tests.
private enum App {
    static let session = Session(transport: MockTransport { _ in .text("the real one") })

    static func greeting() async throws -> String {
        String(decoding: try await session.request("http://mock.test/greeting").serializingData().value, as: UTF8.self)
    }
}

@Suite struct InjectionTests {
    @Test func aTransportReplacesThatOfEverySessionInATask() async throws {
        let mock = MockTransport(stubs: [Stub(.get, "/greeting", .text("hello"))])
        let answers = try await Session.withTransport(mock) {
            async let inChild = App.greeting()
            let inTask = Task { try await App.greeting() }
            return [try await App.greeting(), try await inChild, try await inTask.value]
        }
        #expect(answers == ["hello", "hello", "hello"])
        #expect(mock.requests.count == 3)
        #expect(try await App.greeting() == "the real one")
    }

    @Test func completionHandlersUseTheInjectedTransport() async throws {
        let mock = MockTransport(stubs: [Stub(.get, "/first", .text("1")), Stub(.get, "/second", .text("2"))])
        let second = await withCheckedContinuation { continuation in
            Session.withTransport(mock) {
                _ = App.session.request("http://mock.test/first").responseData { _ in
                    _ = App.session.request("http://mock.test/second").responseData { response in
                        continuation.resume(returning: response.value)
                    }
                }
            }
        }
        #expect(second.map { String(decoding: $0, as: UTF8.self) } == "2")
    }

    @Test func retriersAndInterceptorsRun() async throws {
        let mock = MockTransport(stubs: [Stub(.get, "/greeting", .status(503), .text("at last"))])
        let session = Session(
            interceptor: RetryPolicy(exponentialBackoffScale: 0.001), transport: MockTransport { _ in .status(500) })
        let value = try await Session.withTransport(mock) {
            try await session.request("http://mock.test/greeting").validate().serializingData().value
        }
        #expect(value == Data("at last".utf8))
        #expect(mock.requests.count == 2)
    }

    @Test func concurrentInjectionsAreIndependent() async throws {
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<50 {
                group.addTask {
                    let mock = MockTransport(stubs: [
                        Stub(.get, "/greeting") { _ in .text(String(number)).delayed(by: .milliseconds(number % 5)) }
                    ])
                    return (number, try await Session.withTransport(mock) { try await App.greeting() })
                }
            }
            for try await (number, answer) in group { #expect(answer == String(number)) }
        }
    }

    @Test func cookiesAndTheCacheAreIsolated() async throws {
        var configuration = SessionConfiguration()
        configuration.cacheStore = MemoryCacheStore()
        let session = Session(
            configuration: configuration,
            transport: MockTransport { request in
                var response = MockResponse.text(request["Cookie"] ?? "none")
                response.fields[.setCookie] = "who=real; Path=/"
                response.fields[.cacheControl] = "max-age=3600"
                return response
            })
        @Sendable func ask(_ path: String) async throws -> String {
            let data = try await session.request("http://mock.test\(path)").serializingData().value
            return String(decoding: data, as: UTF8.self)
        }
        #expect(try await ask("/kept") == "none")
        #expect(try await ask("/other") == "who=real")
        let mock = MockTransport { request in .text("mock: \(request["Cookie"] ?? "none")") }
        #expect(try await Session.withTransport(mock) { try await ask("/kept") } == "mock: none")
        #expect(try await ask("/kept") == "none")
    }

    @Test func networkSettingsDoNotPreventMocking() async throws {
        var configuration = SessionConfiguration()
        var network = NetworkSettings()
        network.interface = "eth7"
        configuration.network = network
        let session = Session(configuration: configuration, transport: MockTransport { _ in .status(500) })
        let mock = MockTransport { _ in .text("ok") }
        let data = try await Session.withTransport(mock) { [network] in
            try await session.request("http://mock.test/").options {
                $0.network = network
                $0.httpVersion = .http2
            }.serializingData().value
        }
        #expect(data == Data("ok".utf8))
    }

    @Test func aRequestCanBeCreatedInAnyState() throws {
        let session = Session(transport: MockTransport { _ in .status(500) })
        let request = try session.makeRequest(
            "http://mock.test/a", response: .text("busy", status: 503), retryCount: 2,
            error: .explicitlyCancelled)
        #expect(request.request?.url?.absoluteString == "http://mock.test/a")
        #expect(request.response?.statusCode == 503)
        #expect(request.data == Data("busy".utf8))
        #expect(request.retryCount == 2)
        #expect(request.error?.isExplicitlyCancelledError == true)
        #expect(request.state == .initialized)
        let fresh = try session.makeRequest(URLRequest(url: #require(URL(string: "http://mock.test/b"))))
        #expect(fresh.response == nil && fresh.retryCount == 0 && fresh.error == nil)
    }

    @Suite(.stubs(Stub(.get, "/greeting", .text("from the trait"))))
    struct WithATrait {
        @Test(arguments: 1...3) func theTestsRequestsAreAnswered(number: Int) async throws {
            #expect(try await App.greeting() == "from the trait")
            #expect(MockTransport.current?.requests.count == 1)
        }
    }

    @Test func anUnusedStubFailsTheTest() async throws {
        let trait: StubTrait = .stubs(Stub(.get, "/forgotten", .status(200)))
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {}
        } matching: { issue in
            issue.comments.contains { $0.rawValue == "no request matched: GET /forgotten" }
        }
        let tolerant: StubTrait = .stubs(Stub(.get, "/forgotten", .status(200)), allowsUnused: true)
        try await tolerant.provideScope(for: test, testCase: nil) {}
    }
}
