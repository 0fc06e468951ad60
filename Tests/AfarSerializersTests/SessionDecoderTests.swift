import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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

    /// A serializer that decodes an envelope, as users of Alamofire write it.
    private struct Envelope: ResponseSerializer {
        private let inner = DecodableResponseSerializer<Value>()

        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> String {
            try inner.serialize(request: request, response: response, data: data, error: error).text
        }
    }

    /// A parser that wraps another one.
    private struct Texts: DataStreamParser {
        private var inner = JSONTextSequenceParser<Value>()

        mutating func parse(_ chunk: Data) -> [Result<String, AFError>] { inner.parse(chunk).map { $0.map(\.text) } }
        mutating func finish() -> [Result<String, AFError>] { inner.finish().map { $0.map(\.text) } }
    }

    @Test func wrappedSerializersUseTheSessionsDecoder() async throws {
        let session = makeSession()
        #expect(try await session.request(url).serializing(Envelope()).value == "session")
        #expect(try await session.download(url).serializing(Envelope()).value == "session")
        let sequence = Session(
            configuration: session.configuration,
            transport: MockTransport { _ in .data(Data("\u{1E}{}\n\u{1E}{}".utf8)) })
        var texts: [String] = []
        for await stream in sequence.streamRequest(url).serializing(Texts()) {
            if let text = stream.value { texts.append(text) }
        }
        #expect(texts == ["session", "session"])
    }

    @Test func aParserKeepsItsState() async throws {
        var parser = JSONLinesParser<Value>()
        #expect(parser.parse(Data(#"{"text":"a"}"#.utf8)).isEmpty)
        let session = Session(transport: MockTransport { _ in .data(Data("\n{\"text\":\"b\"}\n".utf8)) })
        var texts: [String] = []
        for await stream in session.streamRequest(url).serializing(parser) {
            if let value = stream.value { texts.append(value.text) }
        }
        #expect(texts == ["a", "b"])
    }

    /// The encodings and error positions of Afar's own decoding of JSON remain.
    @Test func aJSONDecoderWithStrategiesIsTolerant() async throws {
        struct Name: Codable, Equatable, Sendable { var firstName: String }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        var configuration = SessionConfiguration.default
        configuration.decoder = decoder
        let session = Session(
            configuration: configuration,
            transport: MockTransport { _ in .data(Data("\u{FEFF}{\"first_name\":\"a\"}".utf8)) })
        #expect(try await session.request(url).serializingDecodable(Name.self).value.firstName == "a")
        #expect(try await session.download(url).serializingDecodable(Name.self).value.firstName == "a")
    }

    @Test func aSessionWhoseDecoderIsThePlaceholderDecodesJSON() async throws {
        let session = makeSession(decoder: SessionDecoder())
        #expect(try await session.request(url).serializingDecodable(Value.self).value.text == "body")
        #expect(try await session.download(url).serializingDecodable(Value.self).value.text == "body")
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
        var texts: [String] = []
        for await stream in session.streamRequest(url).serializing(.jsonLines(of: Value.self, decoder: own)) {
            if let value = stream.value { texts.append(value.text) }
        }
        #expect(texts == ["own"])
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
