import AfarCore
import AfarJSON
import AfarSerializers
import AfarTesting
import Foundation
import Testing

@Suite struct FastJSONRequestTests {
    private struct User: Codable, Equatable { let id: Int, name: String }

    private func makeSession(_ text: String) -> Session {
        Session(transport: MockTransport { _ in .data(Data(text.utf8), type: "application/json") })
    }

    @Test func responsesAreDecoded() async throws {
        let session = makeSession(#"{"id":7,"name":"Ada"}"#)
        let task = session.request("https://example.com/users/7")
            .serializingDecodable(User.self, decoder: .fastJSON)
        #expect(try await task.value == User(id: 7, name: "Ada"))
    }

    @Test func aSessionDecodesAllResponses() async throws {
        var configuration = SessionConfiguration.default
        configuration.decoder = .fastJSON
        #expect(configuration.decoder is FastJSONDecoder)
        // A `JSONDecoder` would use the first member.
        configuration.decoder = FastJSONDecoder(duplicateKeyStrategy: .useLast)
        let session = Session(
            configuration: configuration,
            transport: MockTransport { _ in
                .data(Data(#"{"id":7,"name":"Ada","name":"Eve"}"#.utf8), type: "application/json")
            })
        let user = try await session.request("https://example.com/users/7").serializingDecodable(User.self).value
        #expect(user == User(id: 7, name: "Eve"))
    }

    @Test func strategiesCanBePassedToTheFactory() async throws {
        struct Snake: Decodable { let firstName: String }
        let session = makeSession(#"{"first_name":"Ada"}"#)
        let task = session.request("https://example.com/users/7")
            .serializingDecodable(Snake.self, decoder: .fastJSON(keyDecodingStrategy: .convertFromSnakeCase))
        #expect(try await task.value.firstName == "Ada")
    }

    @Test func invalidJSONIsADecodingFailure() async {
        let session = makeSession(#"{"id":7,}"#)
        let response = await session.request("https://example.com/users/7")
            .serializingDecodable(User.self, decoder: .fastJSON).response
        guard case .responseSerializationFailed(.decodingFailed(let error))? = response.error,
            case DecodingError.dataCorrupted(let context) = error
        else {
            Issue.record("\(response)")
            return
        }
        #expect((context.underlyingError as? InvalidJSON)?.column == 9)
    }

    @Test func linesOfAStreamAreDecoded() async throws {
        let session = makeSession("{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n")
        let task = session.streamRequest("https://example.com/users").streamTask()
        var ids: [Int] = []
        for await stream in task.streamingResponses(parsedUsing: JSONLinesParser<User>(decoder: .fastJSON)) {
            if let user = stream.value { ids.append(user.id) }
        }
        #expect(ids == [1, 2])
    }
}
