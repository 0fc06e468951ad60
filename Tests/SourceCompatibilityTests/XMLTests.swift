import Afar
import AfarTestServer
import AfarXML
import Testing

/// XML instead of JSON, as a request's parameters and in its response.
@Suite struct XMLTests {
    struct Note: Codable, Equatable {
        @XMLAttribute var id: Int
        var title: String
        var tag: [String]
    }

    let note = Note(id: 1, title: "Tea & more", tag: ["a", "b"])

    @Test func parametersAsXML() async throws {
        let server = try await TestServer.start()
        let echo = try await AF.request(server.url("/post"), method: .post, parameters: note, encoder: .xml)
            .validate()
            .serializingDecodable(Echo.self)
            .value
        #expect(echo.headers["content-type"] == "application/xml")
        let body = try #require(echo.data)
        #expect(body.hasSuffix(#"<Note id="1"><title>Tea &amp; more</title><tag>a</tag><tag>b</tag></Note>"#))
        #expect(try XMLDecoder().decode(Note.self, from: Data(body.utf8)) == note)
    }

    @Test func settingsOfTheEncoder() async throws {
        let server = try await TestServer.start()
        let encoder = XMLEncoder(rootName: "note", outputFormatting: [.prettyPrinted, .withoutDeclaration])
        let echo = try await AF.request(
            server.url("/post"), method: .post, parameters: note, encoder: .xml(encoder: encoder),
            headers: [.contentType("text/xml")]
        )
        .serializingDecodable(Echo.self).value
        #expect(echo.headers["content-type"] == "text/xml")
        #expect(echo.data?.hasPrefix("<note id=\"1\">\n  <title>") == true)
    }

    struct Person: Decodable, Equatable, Sendable {
        var id: Int
        var name: String
        var tag: [String]
    }

    @Test func aResponseDecodedFromXML() async throws {
        let server = try await TestServer.start()
        let expected = Person(id: 7, name: "Ada", tag: ["first", "second"])
        let response = await withCheckedContinuation { continuation in
            AF.request(server.url("/xml")).validate()
                .responseDecodable(of: Person.self, queue: .global(), decoder: XMLDecoder()) {
                    continuation.resume(returning: $0)
                }
        }
        #expect(response.value == expected)
        let person = try await AF.request(server.url("/xml"))
            .serializingDecodable(Person.self, decoder: XMLDecoder(rootName: "person"))
            .value
        #expect(person == expected)
    }

    @Test func undecodableXMLIsAnAFError() async throws {
        let server = try await TestServer.start()
        let result = await AF.request(server.url("/xml")).serializingDecodable(Note.self, decoder: XMLDecoder()).result
        guard case .failure(.responseSerializationFailed(reason: .decodingFailed(let error))) = result else {
            Issue.record("\(result)")
            return
        }
        #expect("\(error)".contains("title at /person, line 2"))
    }
}
