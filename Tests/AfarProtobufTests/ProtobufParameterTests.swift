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

/// Messages as request bodies.
@Suite struct ProtobufParameterTests {
    private static let echo = Session(
        transport: MockTransport { request in
            .data(request.body, type: request.fields[.contentType] ?? "none")
        })

    @Test func aMessageIsEncodedAsTheBodyAndCanBeDecoded() async throws {
        let request = Self.echo.request("http://example.com/", protobuf: Google_Protobuf_Struct.person)
        #expect(try await request.serializing(.protobuf(of: Google_Protobuf_Struct.self)).value == .person)
        #expect(request.request?.httpMethod == "POST")
        #expect(request.request?.headers["Content-Type"] == "application/x-protobuf")
        let json = Self.echo.request(
            "http://example.com/", method: .put, protobuf: Google_Protobuf_Struct.person,
            encoder: .protobuf(format: .json))
        #expect(try await json.serializing(.protobuf(of: Google_Protobuf_Struct.self)).value == .person)
        #expect(json.request?.httpMethod == "PUT")
        #expect(json.request?.headers["Content-Type"] == "application/json")
    }

    @Test func aStreamRequestCanHaveABody() async throws {
        let message = Google_Protobuf_StringValue("a")
        let task = Self.echo.streamRequest("http://example.com/", protobuf: message).streamTask()
        var body = Data()
        for await stream in task.streamingData() { if let data = stream.value { body += data } }
        #expect(body == (try message.serializedBytes() as Data))
    }

    @Test func anExistingContentTypeIsKept() throws {
        var request = URLRequest(url: try "http://example.com/".asURL())
        let body = ProtobufBody(Google_Protobuf_Timestamp.noon)
        let own = ProtobufParameterEncoder.protobuf(contentType: "application/vnd.google.protobuf")
        #expect(try own.encode(body, into: request).headers["Content-Type"] == "application/vnd.google.protobuf")
        request.headers.update(.contentType("application/protobuf"))
        #expect(
            try ProtobufParameterEncoder.protobuf.encode(body, into: request).headers["Content-Type"]
                == "application/protobuf")
        #expect(try own.encode(ProtobufBody<Google_Protobuf_Empty>?.none, into: request).httpBody == nil)
    }

    /// Errors are often logged, so they must not contain parameters.
    @Test func otherTypesAreErrorsThatNameOnlyTheType() throws {
        let request = URLRequest(url: try "http://example.com/".asURL())
        let error = #expect(throws: AFError.self) {
            try ProtobufParameterEncoder.protobuf.encode(["secret": "hunter2"], into: request)
        }
        #expect(error?.isParameterEncoderError == true)
        let noMessage = ProtobufEncodingError(.noMessage, typeName: "Dictionary<String, String>")
        #expect(error?.underlyingError as? ProtobufEncodingError == noMessage)
        let secret = ProtobufBody(Google_Protobuf_StringValue("hunter2"))
        for encoder in [JSONParameterEncoder(), URLEncodedFormParameterEncoder()] as [any ParameterEncoder] {
            let other = #expect(throws: AFError.self) { try encoder.encode(secret, into: request) }
            let otherEncoder = ProtobufEncodingError(.otherEncoder, typeName: "google.protobuf.StringValue")
            #expect(other?.underlyingError as? ProtobufEncodingError == otherEncoder)
            #expect(otherEncoder.localizedDescription.contains("google.protobuf.StringValue"))
            for error in [error, other] {
                let words = "\(String(describing: error)) \(error?.localizedDescription ?? "")"
                #expect(!words.contains("hunter2"))
            }
        }
    }

    @Test func theAcceptHeaderHasAllNames() async throws {
        let session = Session(
            transport: MockTransport { _ in .data(Data(), type: "application/vnd.google.protobuf") })
        let request = session.request("http://example.com/", headers: [.acceptProtobuf]).validate()
        #expect(
            try await request.serializing(.protobuf(of: Google_Protobuf_Empty.self)).value == Google_Protobuf_Empty())
    }
}
