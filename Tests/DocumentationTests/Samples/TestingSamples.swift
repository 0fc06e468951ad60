import Afar
import AfarTestServer
import AfarTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct TestingSamples {
    @Test func readsTheName() async throws {
        let mock = MockTransport { request in
            request.path == "/users/1" ? .json(text: #"{"id": 1, "name": "Ada"}"#) : .status(404)
        }
        let session = Session(transport: mock)

        let user = try await session.request("https://api.example.com/users/1").serializingDecodable(User.self).value

        #expect(user.name == "Ada")
        #expect(mock.requests.map(\.url) == ["https://api.example.com/users/1"])
    }

    @Test func sendsTheToken() async throws {
        let server = try await TestServer.start()
        server.route("/me") { request in .text(request.headers["Authorization"] ?? "nobody") }

        let text = try await AF.request(server.url("/me"), headers: [.authorization(bearerToken: "s3cret")])
            .serializingString()
            .value

        #expect(text == "Bearer s3cret")
        await server.stop()
    }

    @Test func detectsATruncatedBody() async throws {
        let server = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close,
        ])

        let response = await AF.request(server.url).serializingString().response

        #expect(response.error?.isSessionTaskError == true)
        await server.stop()
    }
}
