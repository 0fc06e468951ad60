import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct RequestTests {
        private let transport = makeTransport()

        @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "X-y.z!"])
        func methodsAreSentUnchanged(_ name: String) async throws {
            try await withServer { server in
                let method = try #require(HTTPRequest.Method(name))
                let response = try await transport.send(Exchange(server.url("/anything?a=1"), method))
                #expect(response.head.status == 200)
                #expect(try response.json["method"] as? String == name)
                #expect(try response.json["target"] as? String == "/anything?a=1")
            }
        }

        @Test func headHasNoBody() async throws {
            try await withServer { server in
                for _ in 0..<2 {
                    let response = try await transport.send(Exchange(server.url("/large/1000"), .head))
                    #expect(response.head.contentLength == 1000)
                    #expect(try response.data.isEmpty)
                }
                #expect(server.connectionCount == 1)
            }
        }

        @Test func headWithAnEmptyBodyIsSentAsHead() async throws {
            try await withServer { server in
                let response = try await transport.send(Exchange(server.url("/get"), .head, body: .data(Data())))
                #expect(response.head.status == 200)
            }
        }

        @Test(.onlyOverCurl("libcurl treats it as a POST and waits for the body that the response announces"))
        func headWithABodyIsRejected() async throws {
            try await withServer { server in
                let exchange = Exchange(server.url("/get"), .head, body: .data(Data("x".utf8)))
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.code == .unsupportedByTransport)
                #expect(error.phase == .queued)
                #expect(server.connectionCount == 0)
            }
        }

        @Test(arguments: [(204, "Nothing"), (304, "Same")])
        func statusesWithoutBodiesEndAtTheHead(_ status: Int, _ reason: String) async throws {
            let head = "HTTP/1.1 \(status) \(reason)\r\nContent-Length: 5\r\n\r\n"
            try await withRawServer([.loop([.respond(head)])]) { server in
                for _ in 0..<2 {
                    let response = try await transport.send(Exchange(server.url))
                    #expect(response.head.status == status)
                    #expect(try response.data.isEmpty)
                }
                // Some recipients read a body after a 204 with a Content-Length, so HTTPTransport closes the
                // connection.
                let isAmbiguous = status == 204 && TestedTransport.current == .http
                #expect(server.connectionCount == (isAmbiguous ? 2 : 1))
            }
        }

        @Test func fieldsAreSentInOrderWithDuplicates() async throws {
            try await withServer { server in
                let fields = [
                    ("X-B", "2"), ("X-A", "1"), ("X-B", "3"), ("X-Empty", ""), ("X-Text", "Grüße: 1, 2; \"q\""),
                ]
                let response = try await transport.send(Exchange(server.url("/headers"), fields: fields))
                let sent = try response.echoedFields.filter { $0[0].hasPrefix("X-") }
                #expect(sent == fields.map { [$0.0, $0.1] })
            }
        }

        @Test func noFieldsAreAdded() async throws {
            try await withServer { server in
                let response = try await transport.send(Exchange(server.url("/headers")))
                #expect(try response.echoedFields.map { $0[0] }.sorted() == ["Accept", "Host"])
                let port = try #require(server.url.port)
                #expect(try response.echoed("Host") == ["127.0.0.1:\(port)"])
            }
        }

        @Test func theRequestsFieldsOverrideDefaultFields() async throws {
            try await withServer { server in
                var defaults = HTTPFields()
                defaults[.userAgent] = "default"
                defaults[.acceptLanguage] = "de"
                defaults[.accept] = "a/b"
                let exchange = Exchange(server.url("/headers"), fields: [("user-agent", "own")])
                    .with { $0.defaultFields = DefaultFields(defaults) }
                for _ in 0..<2 {
                    let response = try await transport.send(exchange)
                    #expect(try response.echoed("User-Agent") == ["own"])
                    #expect(try response.echoed("Accept-Language") == ["de"])
                    #expect(try response.echoed("Accept") == ["a/b"])
                }
            }
        }

        @Test func nothingRemainsFromThePreviousRequest() async throws {
            try await withServer { server in
                let rich = Exchange(
                    server.url("/anything"), .put, fields: [("X-Once", "1"), ("Authorization", "Bearer x")],
                    body: .data(Data("body".utf8)))
                #expect(try await transport.send(rich).echoed("X-Once") == ["1"])
                let plain = try await transport.send(Exchange(server.url("/anything")))
                #expect(try plain.json["method"] as? String == "GET")
                #expect(try plain.json["length"] as? Int == 0)
                #expect(try plain.echoedFields.map { $0[0] }.sorted() == ["Accept", "Host"])
            }
        }

        @Test func manyFieldsAreSent() async throws {
            try await withServer { server in
                let fields = (0..<200).map { ("X-\($0)", String(repeating: "v", count: $0)) }
                let response = try await transport.send(Exchange(server.url("/headers"), fields: fields))
                #expect(try response.echoedFields.filter { $0[0].hasPrefix("X-") }.count == 200)
            }
        }
    }
}
