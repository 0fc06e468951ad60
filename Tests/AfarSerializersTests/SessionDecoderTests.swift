import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import Testing

/// The decoder of a session's configuration.
@Suite struct SessionDecoderTests {
    private struct Value: Codable, Equatable, Sendable { var text: String }

    /// A decoder that ignores the data.
    private struct Marker: DataDecoder {
        var text: String

        func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
            try JSONDecoder().decode(type, from: Data(#"{"text":"\#(text)"}"#.utf8))
        }
    }

    private let url = "https://example.com/value"

    private func makeSession(decoder: (any DataDecoder)? = Marker(text: "session")) -> Session {
        var configuration = SessionConfiguration.default
        if let decoder { configuration.decoder = decoder }
        return Session(
            configuration: configuration,
            transport: MockTransport { _ in .data(Data("{\"text\":\"body\"}\n".utf8), type: "application/json") })
    }

    @Test func theDefaultDecodesJSON() async throws {
        let session = makeSession(decoder: nil)
        #expect(try await session.request(url).serializingDecodable(Value.self).value.text == "body")
        #expect(try await session.download(url).serializingDecodable(Value.self).value.text == "body")
    }

    @Test func responsesUseTheSessionsDecoder() async throws {
        let session = makeSession()
        #expect(try await session.request(url).serializingDecodable(Value.self).value.text == "session")
        #expect(try await session.request(url).serializing(.decodable(of: Value.self)).value.text == "session")
        let response = await withCheckedContinuation { continuation in
            session.request(url).responseDecodable(of: Value.self, queue: .global()) {
                continuation.resume(returning: $0)
            }
        }
        #expect(response.value?.text == "session")
    }

    @Test func downloadsUseTheSessionsDecoder() async throws {
        let session = makeSession()
        #expect(try await session.download(url).serializingDecodable(Value.self).value.text == "session")
        #expect(try await session.download(url).serializing(.decodable(of: Value.self)).value.text == "session")
        let response = await withCheckedContinuation { continuation in
            session.download(url).responseDecodable(of: Value.self, queue: .global()) {
                continuation.resume(returning: $0)
            }
        }
        #expect(response.value?.text == "session")
    }

    @Test func streamsUseTheSessionsDecoder() async throws {
        let session = makeSession()
        var texts: [String] = []
        for await stream in session.streamRequest(url).streamTask().streamingDecodables(Value.self) {
            if let value = stream.value { texts.append(value.text) }
        }
        for await stream in session.streamRequest(url).serializing(.jsonLines(of: Value.self)) {
            if let value = stream.value { texts.append(value.text) }
        }
        let lines = await withCheckedContinuation { continuation in
            let found = Found()
            session.streamRequest(url).response(.jsonLines(of: Value.self), on: .global()) { stream in
                if let value = stream.value { found.append(value.text) }
                if stream.completion != nil { continuation.resume(returning: found.texts) }
            }
        }
        #expect(texts + lines == ["session", "session", "session"])
    }

    private final class Found: @unchecked Sendable {
        // Sendable because one handler at a time uses it.
        var texts: [String] = []
        func append(_ text: String) { texts.append(text) }
    }

    @Test func anExplicitDecoderTakesPrecedence() async throws {
        let session = makeSession()
        let (own, stored): (Marker, any DataDecoder) = (Marker(text: "own"), Marker(text: "stored"))
        #expect(try await session.request(url).serializingDecodable(Value.self, decoder: own).value.text == "own")
        #expect(try await session.request(url).serializingDecodable(Value.self, decoder: stored).value.text == "stored")
        #expect(
            try await session.request(url).serializingDecodable(Value.self, decoder: JSONDecoder()).value.text == "body"
        )
        #expect(try await session.download(url).serializingDecodable(Value.self, decoder: own).value.text == "own")
        #expect(
            try await session.request(url).serializing(.decodable(of: Value.self, decoder: own)).value.text == "own")
        for await stream in session.streamRequest(url).serializing(.jsonLines(of: Value.self, decoder: own)) {
            if let value = stream.value { #expect(value.text == "own") }
        }
    }

    /// Without a request, there is no session.
    @Test func aSerializerAloneDecodesJSON() throws {
        let input = SerializationInput(
            request: nil, head: ResponseHead(status: 200, url: url), data: Data(#"{"text":"alone"}"#.utf8), error: nil)
        #expect(try DecodableResponseSerializer<Value>().serialize(input).text == "alone")
        #expect(try DecodableStreamSerializer<Value>().serialize(Data(#"{"text":"chunk"}"#.utf8)).text == "chunk")
        #expect(try SessionDecoder().decode(Value.self, from: Data(#"{"text":"direct"}"#.utf8)).text == "direct")
    }
}
