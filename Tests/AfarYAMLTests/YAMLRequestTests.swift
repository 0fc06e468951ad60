import AfarCore
import AfarSerializers
import AfarTesting
import AfarYAML
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests with YAML responses and parameters.
@Suite struct YAMLRequestTests {
    private static func session(_ yaml: String, chunkSize: Int? = nil) -> Session {
        Session(
            transport: MockTransport { _ in
                var response = MockResponse.data(Data(yaml.utf8), type: "application/yaml")
                response.chunkSize = chunkSize
                return response
            })
    }

    @Test func aValueIsAwaited() async throws {
        let session = Self.session(Service.yaml)
        #expect(try await session.request("http://example.com/").serializing(.yaml(of: Service.self)).value == .web)
        #expect(try await session.download("http://example.com/").serializing(.yaml(of: Service.self)).value == .web)
        let decoder = YAMLDataDecoder()
        #expect(
            try await session.request("http://example.com/").serializingDecodable(Service.self, decoder: decoder).value
                == .web)
    }

    @Test func handlersReceiveAValue() async {
        let session = Self.session(Service.yaml)
        let queue = DispatchQueue(label: "handlers")
        let value: Service? = await withCheckedContinuation { continuation in
            session.request("http://example.com/").response(.yaml(of: Service.self), queue: queue) {
                continuation.resume(returning: $0.value)
            }
        }
        #expect(value == .web)
        let file: Service? = await withCheckedContinuation { continuation in
            session.download("http://example.com/").response(.yaml(of: Service.self), queue: queue) {
                continuation.resume(returning: $0.value)
            }
        }
        #expect(file == .web)
        let factory: Service? = await withCheckedContinuation { continuation in
            session.request("http://example.com/").response(queue: queue, responseSerializer: .yaml(of: Service.self)) {
                continuation.resume(returning: $0.value)
            }
        }
        #expect(factory == .web)
    }

    @Test func failuresAreDecodingFailures() async {
        let session = Self.session("- 1\n")
        let error = await session.request("http://example.com/").serializing(.yaml(of: Service.self)).response.error
        guard case .responseSerializationFailed(.decodingFailed(let cause)) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(cause is DecodingError)
        let limits = YAMLLimits(maximumSize: 3)
        let limited = session.request("http://example.com/")
        #expect(await limited.serializing(.yaml(of: Service.self, limits: limits)).response.error?.limit == .size)
    }

    @Test func anEmptyBodyIsAnErrorByDefault() async throws {
        let session = Session(transport: MockTransport { _ in .status(200) })
        let error = await session.request("http://example.com/").serializing(.yaml(of: Service.self)).response.error
        guard case .responseSerializationFailed(.inputDataNilOrZeroLength) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        let task = session.request("http://example.com/").serializing(.yaml(of: Empty.self, emptyResponseCodes: [200]))
        #expect(try await task.value == Empty.value)
    }

    @Test func parametersAreEncodedAsTheBody() throws {
        let request = URLRequest(url: try "http://example.com/".asURL())
        let encoded = try YAMLParameterEncoder.yaml(sortsKeys: true).encode(Service.web, into: request)
        #expect(encoded.headers["Content-Type"] == "application/yaml")
        let body = try #require(encoded.httpBody)
        #expect(try YAMLDataDecoder().decode(Service.self, from: body) == .web)
        #expect(
            String(decoding: body, as: UTF8.self) == "labels:\n  tier: front\nname: web\nports:\n- 80\n- 443\n")
        #expect(try YAMLParameterEncoder.yaml.encode(Service?.none, into: request).httpBody == nil)
    }

    @Test func ambiguousTextRemainsText() throws {
        let request = URLRequest(url: try "http://example.com/".asURL())
        let tricky = ["yes", "null", "1", "- x", "a: b", "# no", "grün 💡", "line\nbreak", ""]
        let body = try #require(try YAMLParameterEncoder.yaml.encode(tricky, into: request).httpBody)
        #expect(try YAMLDataDecoder().decode([String].self, from: body) == tricky)
    }

    @Test func anExistingContentTypeIsKept() throws {
        var request = URLRequest(url: try "http://example.com/".asURL())
        request.headers.update(.contentType("text/x-yaml"))
        #expect(try YAMLParameterEncoder.yaml.encode([1], into: request).headers["Content-Type"] == "text/x-yaml")
    }

    @Test func unencodableValuesAreErrors() throws {
        struct Broken: Encodable, Sendable {
            struct Why: Error {}
            func encode(to encoder: any Encoder) throws { throw Why() }
        }
        let request = URLRequest(url: try "http://example.com/".asURL())
        let error = #expect(throws: AFError.self) { try YAMLParameterEncoder.yaml.encode(Broken(), into: request) }
        #expect(error?.isParameterEncoderError == true)
    }

    private static let documents = """
        # a comment
        %YAML 1.1
        ---
        name: a
        ports: [1]
        ---
        --- # nothing
        # nothing either
        --- {name: b,
         ports: [2]}
        ...
        # between
        ---
        name: c
        ports: no numbers
        ---\r
        name: d\r
        ports: []\r
        labels:
          text: |
            --- no marker
             ---
        """

    @Test(arguments: [1, 2, 3, 10, 1000])
    func everyDocumentIsAValue(size: Int) async {
        let session = Self.session(Self.documents, chunkSize: size)
        let request = session.streamRequest("http://example.com/")
        var names: [String] = []
        var errors: [AFError] = []
        for await stream in request.serializing(.yamlDocuments(of: Service.self)) {
            if let service = stream.value { names.append(service.name) }
            if let error = stream.error { errors.append(error) }
        }
        #expect(names == ["a", "b", "d"])
        #expect(errors.count == 1)
    }

    @Test(arguments: [1, 7, 1000])
    func aLargeDocumentIsSkipped(size: Int) async {
        let large = "name: \(String(repeating: "x", count: 200))\nports: []\n"
        let yaml = "name: a\nports: []\n---\n\(large)---\nname: b\nports: []\n"
        let session = Self.session(yaml, chunkSize: size)
        let request = session.streamRequest("http://example.com/")
        var names: [String] = []
        var errors: [AFError] = []
        let limits = YAMLLimits(maximumSize: 100)
        for await stream in request.serializing(.yamlDocuments(of: Service.self, limits: limits)) {
            if let service = stream.value { names.append(service.name) }
            if let error = stream.error { errors.append(error) }
        }
        #expect(names == ["a", "b"])
        #expect(errors.map(\.limit) == [.size])
    }

    @Test func aHandlerReceivesDocuments() async {
        let session = Self.session("name: a\nports: []\n---\nname: b\nports: []\n")
        let names = Locked<[String]>([])
        await withCheckedContinuation { continuation in
            session.streamRequest("http://example.com/")
                .response(.yamlDocuments(of: Service.self), on: DispatchQueue(label: "handler")) { stream in
                    if let service = stream.value { names.withLock { $0.append(service.name) } }
                    if stream.completion != nil { continuation.resume() }
                }
        }
        #expect(names.withLock { $0 } == ["a", "b"])
    }
}
