import AfarCompression
import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The requests that the compressors produce.
@Suite struct RequestCompressorTests {
    static let body = Data("a body of some words, of some words".utf8)
    let session = Session(transport: MockTransport { _ in .status(200) })

    func request(_ headers: HTTPHeaders = [:], body: Data? = body) throws -> URLRequest {
        var request = try URLRequest(url: "http://mock/", method: .post, headers: headers)
        request.httpBody = body
        return request
    }

    func adapted(_ request: URLRequest, by interceptor: any RequestInterceptor) throws -> URLRequest {
        let answer = Locked<Result<URLRequest, any Error>?>(nil)
        interceptor.adapt(request, for: session) { result in answer.withLock { $0 = result } }
        return try #require(answer.withLock { $0 }).get()
    }

    static func deflate(_ behavior: DeflateRequestCompressor.DuplicateHeaderBehavior) -> DeflateRequestCompressor {
        .deflateCompressor(duplicateHeaderBehavior: behavior)
    }

    @Test func aRefusedBodyIsSentAgainWithoutCompression() async throws {
        let transport = MockTransport { request in
            request["Content-Encoding"] == nil ? .data(request.body) : .status(415)
        }
        let session = Session(interceptor: .gzipCompressor, transport: transport)
        let task = session.request(try request()).validate().serializingData()
        #expect(try await task.value == Self.body)
        #expect(transport.requests.map { $0["Content-Encoding"] } == ["gzip", nil])
        // Another request is compressed again.
        _ = await session.request(try request()).validate().serializingData().response
        #expect(transport.requests.map { $0["Content-Encoding"] } == ["gzip", nil, "gzip", nil])
    }

    /// A body that the caller has compressed would be sent again unchanged.
    @Test func theCallersOwnCodingIsNotSentAgain() async throws {
        let transport = MockTransport { _ in .status(415) }
        let session = Session(interceptor: .gzipCompressor(duplicateHeaderBehavior: .skip), transport: transport)
        let response = await session.request(try request(["Content-Encoding": "gzip"])).validate().serializingData()
            .response
        #expect(response.error?.responseCode == 415)
        #expect(transport.requests.count == 1)
    }

    @Test func anotherRefusalIsFinal() async throws {
        let transport = MockTransport { _ in .status(415) }
        let session = Session(interceptor: .gzipCompressor, transport: transport)
        let response = await session.request(try request()).validate().serializingData().response
        #expect(response.error?.responseCode == 415)
        #expect(transport.requests.count == 2)
    }

    @Test func theBodyIsEncodedAndTheHeaderIsSet() throws {
        let deflated = try adapted(request(["X-Own": "1"]), by: .deflateCompressor)
        #expect(try deflated.httpBody == DeflateCoding.encode(Self.body))
        #expect(deflated.headers.dictionary == ["Content-Encoding": "deflate", "X-Own": "1"])
        let gzipped = try adapted(request(), by: .gzipCompressor)
        #expect(try gzipped.httpBody == GzipCoding.encode(Self.body))
        #expect(gzipped.headers.dictionary == ["Content-Encoding": "gzip"])
        let empty = try adapted(request(body: Data()), by: .gzipCompressor)
        #expect(try empty.httpBody == GzipCoding.encode(Data()))
    }

    @Test func theOriginalContentLengthIsRemoved() throws {
        let length = "\(Self.body.count)"
        #expect(
            try adapted(request(["content-length": length]), by: .deflateCompressor).headers["Content-Length"] == nil)
        let skipping = DeflateRequestCompressor { _ in false }
        #expect(try adapted(request(["content-length": length]), by: skipping).headers["Content-Length"] == length)
    }

    @Test func requestsWithoutABodyInMemoryAreUnchanged() throws {
        for compressor in [.deflateCompressor as DeflateRequestCompressor, .gzipCompressor] as [any RequestInterceptor]
        {
            let bare = try adapted(request(["Content-Encoding": "br"], body: nil), by: compressor)
            #expect(bare.httpBody == nil)
            #expect(bare.headers.dictionary == ["Content-Encoding": "br"])
            var streaming = try request(body: nil)
            let stream = InputStream(data: Self.body)
            streaming.httpBodyStream = stream
            let adapted = try adapted(streaming, by: compressor)
            #expect(adapted.httpBodyStream === stream)
            #expect(adapted.headers.isEmpty)
        }
    }

    @Test func theClosureDecidesByTheBody() throws {
        let requested = Locked<[Data]>([])
        let compressor: some RequestInterceptor = .gzipCompressor { body in
            requested.withLock { $0.append(body) }
            return body.count > 10
        }
        let small = try adapted(request(["Content-Encoding": "br"], body: Data("small".utf8)), by: compressor)
        #expect(small.httpBody == Data("small".utf8))
        #expect(small.headers["Content-Encoding"] == "br")
        #expect(try adapted(request(), by: compressor).headers["Content-Encoding"] == "gzip")
        #expect(requested.withLock { $0 } == [Data("small".utf8), Self.body])
    }

    @Test func anExistingContentEncodingIsAnErrorByDefault() throws {
        let request = try request(["content-encoding": "br"])
        #expect(throws: DeflateRequestCompressor.DuplicateHeaderError.self) {
            try adapted(request, by: .deflateCompressor)
        }
        #expect(throws: GzipRequestCompressor.DuplicateHeaderError.self) { try adapted(request, by: .gzipCompressor) }
        let skipped = try adapted(request, by: Self.deflate(.skip))
        #expect(skipped.httpBody == Self.body)
        #expect(skipped.headers.dictionary.map(\.value) == ["br"])
        let replaced = try adapted(request, by: Self.deflate(.replace))
        #expect(try replaced.httpBody == DeflateCoding.encode(Self.body))
        #expect(replaced.headers.map(\.value) == ["deflate"])
    }

    @Test func theRequestFailsWithTheReasonAndIsNotSent() async throws {
        let transport = MockTransport { _ in .status(200) }
        let session = Session(interceptor: .gzipCompressor, transport: transport)
        let response = await session.request(try request(["Content-Encoding": "br"])).serializingData().response
        guard case .requestAdaptationFailed(let error)? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(error is GzipRequestCompressor.DuplicateHeaderError)
        #expect("\(response.error.map { "\($0)" } ?? "")".contains("Content-Encoding already"))
        #expect(transport.requests.isEmpty)
    }

    /// A custom coding that always fails.
    enum Broken: BodyCoding {
        static let name = "broken"
        static func encode(_ data: Data) throws -> Data { throw CompressionError(status: -4, message: "") }
    }

    @Test func anErrorOfTheCodingFailsTheRequest() async throws {
        let transport = MockTransport { _ in .status(200) }
        let session = Session(interceptor: RequestCompressor<Broken>(), transport: transport)
        let response = await session.request(try request()).serializingData().response
        guard case .requestAdaptationFailed(let error)? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(error as? CompressionError == CompressionError(status: -4, message: ""))
        #expect(transport.requests.isEmpty)
    }
}
