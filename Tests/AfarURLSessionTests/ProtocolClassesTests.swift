import AfarCore
import Foundation
import HTTPTypes
import Testing

@testable import AfarURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Subclasses of `URLProtocol` receive requests.
@Suite(.timeLimit(.minutes(1))) struct ProtocolClassesTests {
    /// A protocol that responds to all requests whose path begins with `/stub`.
    class Stub: URLProtocol {
        class var text: String { "stub" }

        override class func canInit(with request: URLRequest) -> Bool { request.url?.path.hasPrefix("/stub") == true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 203, httpVersion: "HTTP/1.1",
                    headerFields: ["X-Method": request.httpMethod ?? ""])
            else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data(Self.text.utf8))
            client?.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }

    final class OtherStub: Stub {
        override class var text: String { "other" }
    }

    private func server() throws -> ScriptedServer {
        try ScriptedServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nserver")
            }
        }
    }

    private func configuration(_ classes: [AnyClass]) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = classes + (configuration.protocolClasses ?? [])
        return configuration
    }

    @Test func theTransportsClassesAreUsed() async throws {
        let transport = URLSessionTransport(configuration: configuration([Stub.self]))
        let response = try await transport.send(.get(try server()) { $0.request.path = "/stub" })
        #expect(response.text == "stub")
        #expect(response.head.status == 203)
        #expect(try await transport.send(.get(try server())).text == "server")
    }

    @Test func theExchangesClassesAreUsed() async throws {
        let transport = URLSessionTransport()
        let classes = configuration([Stub.self]).protocolClasses
        let server = try server()
        for _ in 1...3 {
            let response = try await transport.send(
                .get(server) { ($0.request.path, $0.options.protocolClasses) = ("/stub", classes) })
            #expect(response.text == "stub")
        }
        let declined = try await transport.send(.get(server) { $0.options.protocolClasses = classes })
        #expect(declined.text == "server")
        #expect(try await transport.send(.get(server) { $0.request.path = "/stub" }).text == "server")
        #expect(transport.delegate.count == 0)
    }

    @Test func theExchangesClassesReplaceTheTransports() async throws {
        let transport = URLSessionTransport(configuration: configuration([OtherStub.self]))
        let server = try server()
        for (classes, text) in [(nil, "other"), ([Stub.self], "stub"), ([OtherStub.self], "other")]
            as [([AnyClass]?, _)]
        {
            let response = try await transport.send(
                .get(server) { ($0.request.path, $0.options.protocolClasses) = ("/stub", classes) })
            #expect(response.text == text)
        }
    }

    @Test(arguments: [RequestBody.data(Data("body".utf8)), .none])
    func everyMethodIsOffered(body: RequestBody) async throws {
        let transport = URLSessionTransport()
        let response = try await transport.send(
            .post(try server(), body) { ($0.request.path, $0.options.protocolClasses) = ("/stub", [Stub.self]) })
        #expect(response.text == "stub")
        #expect(response.head.value(for: try #require(HTTPField.Name("X-Method"))) == "POST")
    }
}
