import AfarCore
import AfarProtobuf
import AfarTesting
import Foundation
import HTTPTypes
import SwiftProtobuf
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Messages as responses.
@Suite struct ProtobufResponseTests {
    private static func session(_ body: Data, type: String = "application/x-protobuf", status: Int = 200) -> Session {
        Session(
            transport: MockTransport { _ in
                var response = MockResponse.data(body, type: type)
                response.status = status
                return response
            })
    }

    /// Serializes a response body.
    private static func read<M: Message>(
        _ type: M.Type, _ body: Data, type contentType: String = "application/x-protobuf",
        options: ProtobufDecodingOptions = ProtobufDecodingOptions()
    ) throws -> M {
        let head = ResponseHead(status: 200, fields: [.contentType: contentType], url: "http://example.com/")
        let input = SerializationInput(request: nil, head: head, data: body, error: nil)
        return try ProtobufResponseSerializer<M>(options: options).serialize(input)
    }

    private static func error<M: Message>(
        _ type: M.Type, _ body: Data, type contentType: String = "application/x-protobuf",
        options: ProtobufDecodingOptions = ProtobufDecodingOptions()
    ) -> AFError? {
        #expect(throws: AFError.self) { try read(type, body, type: contentType, options: options) }
    }

    @Test func aMessageIsAwaited() async throws {
        let session = Self.session(try Google_Protobuf_Struct.person.serializedBytes())
        let request = session.request("http://example.com/")
        #expect(try await request.serializing(.protobuf(of: Google_Protobuf_Struct.self)).value == .person)
        let download = session.download("http://example.com/")
        #expect(try await download.serializing(.protobuf(of: Google_Protobuf_Struct.self)).value == .person)
    }

    @Test func handlersReceiveAMessage() async throws {
        let session = Self.session(try Google_Protobuf_Timestamp.noon.serializedBytes())
        let queue = DispatchQueue(label: "handlers")
        let value: Google_Protobuf_Timestamp? = await withCheckedContinuation { continuation in
            session.request("http://example.com/")
                .response(.protobuf(of: Google_Protobuf_Timestamp.self), queue: queue) {
                    continuation.resume(returning: $0.value)
                }
        }
        #expect(value == .noon)
        let file: Google_Protobuf_Timestamp? = await withCheckedContinuation { continuation in
            session.download("http://example.com/")
                .response(.protobuf(of: Google_Protobuf_Timestamp.self), queue: queue) {
                    continuation.resume(returning: $0.value)
                }
        }
        #expect(file == .noon)
        let factory: Google_Protobuf_Timestamp? = await withCheckedContinuation { continuation in
            session.request("http://example.com/")
                .response(queue: queue, responseSerializer: .protobuf(of: Google_Protobuf_Timestamp.self)) {
                    continuation.resume(returning: $0.value)
                }
        }
        #expect(factory == .noon)
    }

    @Test(
        arguments: [
            "application/x-protobuf", "application/protobuf", "application/vnd.google.protobuf",
            "application/octet-stream", "application/x-protobuf+jsonx", "", ";application/json",
            "text/plain, text/json",
            "application/x-protobuf; messageType=\"google.protobuf.Timestamp\"",
        ])
    func theBinaryFormatIsTheDefault(type: String) throws {
        let body: Data = try Google_Protobuf_Timestamp.noon.serializedBytes()
        #expect(try Self.read(Google_Protobuf_Timestamp.self, body, type: type) == .noon)
    }

    @Test(arguments: [
        "application/json", "application/json; charset=utf-8", "application/problem+json", "text/json",
        " Application/JSON\t;x", "text/json, text/plain",
    ])
    func jsonIsDecodedIfTheTypeIsJSON(type: String) throws {
        let body: Data = try Google_Protobuf_Struct.person.jsonUTF8Bytes()
        #expect(try Self.read(Google_Protobuf_Struct.self, body, type: type) == .person)
        let mask = try Self.read(Google_Protobuf_FieldMask.self, Data("\"name,birthDate\"".utf8), type: type)
        #expect(mask.paths == ["name", "birth_date"])
    }

    @Test func anEmptyBodyIsAMessageWithDefaultValues() async throws {
        #expect(try Self.read(Google_Protobuf_StringValue.self, Data()) == Google_Protobuf_StringValue())
        let session = Self.session(Data(), status: 204)
        let empty = session.request("http://example.com/").serializing(.protobuf(of: Google_Protobuf_Empty.self))
        #expect(try await empty.value == Google_Protobuf_Empty())
        let error = Self.error(Google_Protobuf_StringValue.self, Data(), type: "application/json")
        guard case .responseSerializationFailed(.inputDataNilOrZeroLength) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
    }

    @Test func aSliceIsDecoded() throws {
        let message: Data = try Google_Protobuf_Timestamp.noon.serializedBytes()
        let input = SerializationInput(
            request: nil, head: nil, data: (Data([1, 2]) + message).dropFirst(2), error: nil)
        #expect(try ProtobufResponseSerializer<Google_Protobuf_Timestamp>().serialize(input) == .noon)
    }

    @Test func malformedMessagesAreADecodingFailure() {
        for (body, type) in [
            ([0x0A, 0x05, 0x61], "application/x-protobuf"), ([0xFF], "application/protobuf"),
            (Array("[1]".utf8), "application/json"), (Array("{\"x\":1}".utf8), "application/json"),
        ] as [([UInt8], String)] {
            let error = Self.error(Google_Protobuf_StringValue.self, Data(body), type: type)
            guard case .malformed(let format, _) = error?.protobuf?.reason else {
                Issue.record("unexpected error: \(String(describing: error))")
                continue
            }
            #expect(format == (type == "application/json" ? .json : .binary))
            #expect(error?.protobuf?.messageName == "google.protobuf.StringValue")
            #expect(error?.protobuf?.localizedDescription.contains("google.protobuf.StringValue") == true)
        }
    }

    @Test func largeMessagesAreRejected() throws {
        let body: Data = try Google_Protobuf_StringValue(String(repeating: "x", count: 98)).serializedBytes()
        #expect(body.count == 100)
        let allowed = ProtobufDecodingOptions(maximumSize: 100)
        #expect(try Self.read(Google_Protobuf_StringValue.self, body, options: allowed).value.count == 98)
        let options = ProtobufDecodingOptions(maximumSize: 99)
        let error = Self.error(Google_Protobuf_StringValue.self, body, options: options)
        guard case .tooLarge(maximum: 99) = error?.protobuf?.reason else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(
            error?.protobuf?.description == """
                The message google.protobuf.StringValue has more than 99 bytes. If you trust its sender, increase \
                ProtobufDecodingOptions.maximumSize.
                """)
    }

    @Test func deepMessagesAreRejected() throws {
        let shallow: Data = try nested(20).serializedBytes()
        #expect(try Self.read(Google_Protobuf_Value.self, shallow) == nested(20))
        let deep: Data = try nested(60).serializedBytes()
        #expect(Self.error(Google_Protobuf_Value.self, deep)?.protobuf != nil)
        var options = ProtobufDecodingOptions()
        options.binary.messageDepthLimit = 200
        #expect(try Self.read(Google_Protobuf_Value.self, deep, options: options) == nested(60))
        options.binary.messageDepthLimit = 20
        #expect(Self.error(Google_Protobuf_Value.self, shallow, options: options)?.protobuf != nil)
        let json = Data((String(repeating: "[", count: 100_000)).utf8)
        let error = Self.error(Google_Protobuf_Value.self, json, type: "application/json")
        #expect(error?.protobuf != nil)
    }

    @Test func unknownFieldsAreKeptUnlessTheOptionsDiscardThem() throws {
        let body: Data = try Google_Protobuf_Timestamp.noon.serializedBytes()
        let kept = try Self.read(Google_Protobuf_Empty.self, body)
        #expect(try kept.serializedBytes() as Data == body)
        var options = ProtobufDecodingOptions()
        options.binary.discardUnknownFields = true
        #expect(
            try Self.read(Google_Protobuf_Empty.self, body, options: options) == Google_Protobuf_Empty())
        options.json.ignoreUnknownFields = true
        let json = Data("{\"x\":1}".utf8)
        let value = try Self.read(Google_Protobuf_Empty.self, json, type: "application/json", options: options)
        #expect(value == Google_Protobuf_Empty())
    }

    @Test func anEarlierErrorIsThrown() throws {
        let input = SerializationInput(request: nil, head: nil, data: nil, error: .explicitlyCancelled)
        let error = #expect(throws: AFError.self) {
            try ProtobufResponseSerializer<Google_Protobuf_Empty>().serialize(input)
        }
        #expect(error?.isExplicitlyCancelledError == true)
    }
}
