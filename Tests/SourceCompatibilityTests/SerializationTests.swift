import Afar
import AfarTestServer
import Testing

/// Serializers with their options and errors, as in code for Alamofire 5.
@Suite struct SerializationTests {
    private struct Named: Codable, Equatable, Sendable {
        var name: String
    }

    /// A type for which an empty body is a value.
    private struct Nothing: Decodable, EmptyResponse, Sendable {
        static func emptyValue() -> Nothing { Nothing() }
    }

    /// A custom decoder.
    private struct LineDecoder: DataDecoder {
        func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
            let name = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            return try JSONDecoder().decode(type, from: JSONEncoder().encode(Named(name: name)))
        }
    }

    @Test func preprocessorsDecodersAndEmptyValues() async throws {
        let server = try await TestServer.start()
        server.route("/guarded") { _ in .text(")]}',\n{\"name\":\"Ada\"}") }
        server.route("/line") { _ in .text("Ada\n") }
        let guarded = try await AF.request(server.url("/guarded"))
            .serializingDecodable(Named.self, dataPreprocessor: GoogleXSSIPreprocessor()).value
        #expect(guarded.name == "Ada")
        let line = try await AF.request(server.url("/line"))
            .serializingDecodable(Named.self, decoder: LineDecoder()).value
        #expect(line.name == "Ada")
        _ = try await AF.request(server.url("/status/204")).serializingDecodable(Nothing.self).value
        let refused = await AF.request(server.url("/status/204")).serializingDecodable(Named.self).response
        guard case .responseSerializationFailed(.invalidEmptyResponse)? = refused.error else {
            Issue.record("unexpected error: \(refused)")
            return
        }
        await server.stop()
    }

    @Test func responsesAreMapped() async throws {
        struct Odd: Error {}
        let server = try await TestServer.start()
        let response = await AF.request(server.url("/text")).serializingString().response
        let count: AFDataResponse<Int> = response.map { $0.count }
        #expect(count.value == response.value?.count)
        #expect(response.tryMap { _ -> Int in throw Odd() }.error is Odd)
        let failed = await AF.request(server.url("/status/418")).validate().serializingString().response
        let odd: DataResponse<String, Odd> = failed.mapError { _ in Odd() }
        #expect(odd.error != nil)
        #expect(failed.tryMapError { _ -> AFError in throw Odd() }.error is Odd)
        #expect(failed.error?.isResponseValidationError == true)
        await server.stop()
    }

    @Test func errorsExposeTheirDetails() async throws {
        let server = try await TestServer.start()
        let type = await AF.request(server.url("/text")).validate(contentType: ["application/json"])
            .serializingData().response
        #expect(type.error?.acceptableContentTypes == ["application/json"])
        #expect(type.error?.responseContentType?.hasPrefix("text/plain") == true)
        server.route("/latin") { _ in .content("text/plain", Data([0xFF, 0xFE, 0xC0])) }
        let text = await AF.request(server.url("/latin")).serializingString(encoding: .ascii).response
        #expect(text.error?.failedStringEncoding == .ascii)
        let invalid = await AF.request("").serializingData().response
        #expect(invalid.error?.isInvalidURLError == true)
        #expect(invalid.error?.urlConvertible as? String == "")
        await server.stop()
    }

    @Test func textInEncodings() async throws {
        let server = try await TestServer.start()
        server.route("/greek") { _ in .content("text/plain; charset=iso-8859-7", Data([0xE1, 0xE2])) }
        let queue = DispatchQueue(label: "text")
        let handled: String? = await withCheckedContinuation { continuation in
            AF.request(server.url("/greek"))
                .responseString(
                    queue: queue, dataPreprocessor: .passthrough, encoding: nil, emptyResponseCodes: [204],
                    emptyRequestMethods: [.head]
                ) { response in continuation.resume(returning: response.value) }
        }
        #expect(handled == "αβ")
        let serializer = StringResponseSerializer(
            dataPreprocessor: PassthroughPreprocessor(), encoding: .isoLatin1, emptyResponseCodes: [204, 205],
            emptyRequestMethods: [.head])
        #expect(serializer.encoding == .isoLatin1)
        let latin = try await AF.request(server.url("/greek")).serializingResponse(using: serializer).value
        #expect(latin == "áâ")
        let ascii = await AF.request(server.url("/greek")).serializingResponse(using: .string(encoding: .ascii))
            .response.error
        if case .responseSerializationFailed(let reason) = ascii, case .stringSerializationFailed(let encoding) = reason
        {
            #expect(encoding == .ascii)
        }
        #expect(ascii?.isResponseSerializationError == true)
        #expect(ascii?.failedStringEncoding == .ascii)
        await server.stop()
    }

    @Test func propertyListsAndUploadConvertibles() async throws {
        struct Note: UploadConvertible {
            let url: URL
            func asURLRequest() throws -> URLRequest { try URLRequest(url: url, method: .put) }
            func createUploadable() throws -> UploadRequest.Uploadable { .data(Data("note".utf8)) }
        }
        let server = try await TestServer.start()
        let note: UploadConvertible = Note(url: server.url("/put"))
        guard case .data(let data) = try note.createUploadable() else {
            Issue.record("the note is no data")
            return
        }
        let echo = try await AF.upload(data, with: note).serializingDecodable(Echo.self).value
        #expect(echo.data == "note")
        let list = try await AF.request(
            server.url("/post"), method: .post, parameters: Named(name: "Ada"),
            encoder: PropertyListParameterEncoder.default
        ).serializingDecodable(Echo.self).value
        #expect(list.headers["content-type"]?.contains("plist") == true)
        await server.stop()
    }

    @Test func headersHaveTheirNames() {
        let headers: HTTPHeaders = [
            .acceptCharset("utf-8"), .acceptLanguage("en"), .acceptEncoding("gzip"), .contentDisposition("inline"),
            .contentEncoding("gzip"), .contentType("text/plain"), .userAgent("me"), .websocketProtocol("chat"),
            .authorization(username: "ada", password: "pw"), .authorization("Other x"),
        ]
        #expect(headers.count == 9)
        #expect(headers["Sec-WebSocket-Protocol"] == "chat")
        #expect(headers.value(for: "AUTHORIZATION") == "Other x")
        #expect(headers.sorted().first?.name == "Accept-Charset")
    }
}
