import Afar
import AfarTesting
import Testing
import Yams

struct Deployment: Codable, Equatable {
    var name: String
    var replicas: Int
}

struct YAML: DataDecoder {
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        try YAMLDecoder().decode(type, from: data)
    }
}

struct YAMLSerializer<T: Decodable>: ResponseSerializer {
    func serialize(_ input: SerializationInput) throws -> T {
        guard let data = try bytes(of: input) else {
            throw AFError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(T.self)"))
        }
        do {
            return try YAML().decode(T.self, from: data)
        } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }

    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> T {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    static func yaml<T: Decodable>(of type: T.Type) -> YAMLSerializer<T> where Self == YAMLSerializer<T> {
        YAMLSerializer()
    }
}

struct YAMLDocuments<T: Decodable & Sendable>: DataStreamParser {
    struct TooLarge: Error {}

    private let separator = Data("\n---\n".utf8)
    private let limit = 1 << 20
    private var rest = Data()
    /// The number of bytes already searched for a separator.
    private var searched = 0
    /// Whether the rest of an oversized document is skipped.
    private var isSkipping = false

    mutating func parse(_ chunk: Data) -> [Result<T, AFError>] {
        rest += chunk
        var documents: [Result<T, AFError>] = []
        while let end = rest.range(of: separator, in: (rest.startIndex + searched)..<rest.endIndex) {
            if !isSkipping { documents.append(decode(rest[..<end.lowerBound])) }
            rest.removeSubrange(..<end.upperBound)
            searched = 0
            isSkipping = false
        }
        // The data can end within a separator.
        let undecided = separator.count - 1
        if !isSkipping, rest.count > limit {
            isSkipping = true
            documents.append(.failure(.responseSerializationFailed(reason: .decodingFailed(error: TooLarge()))))
        }
        if isSkipping { rest = Data(rest.suffix(undecided)) }
        searched = max(0, rest.count - undecided)
        return documents
    }

    mutating func finish() -> [Result<T, AFError>] { rest.isEmpty || isSkipping ? [] : [decode(rest)] }

    private func decode(_ document: Data) -> Result<T, AFError> {
        Result { try YAML().decode(T.self, from: document) }
            .mapError { .responseSerializationFailed(reason: .decodingFailed(error: $0)) }
    }
}

extension DataStreamParser {
    static func yamlDocuments<T: Decodable & Sendable>(of type: T.Type) -> Self where Self == YAMLDocuments<T> {
        YAMLDocuments()
    }
}

struct YAMLBody: ParameterEncoder {
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            request.httpBody = Data(try YAMLEncoder().encode(parameters).utf8)
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        if request.headers["Content-Type"] == nil { request.headers.update(.contentType("application/yaml")) }
        return request
    }
}

extension ParameterEncoder where Self == YAMLBody {
    static var yaml: YAMLBody { YAMLBody() }
}

@Suite struct YAMLSerializerTests {
    @Test func aValueIsDecoded() async throws {
        let session = Session(
            transport: MockTransport { _ in .data(Data("name: web\nreplicas: 3\n".utf8), type: "application/yaml") })

        let task = session.request("https://api.example.com/deployment").serializing(.yaml(of: Deployment.self))

        #expect(try await task.value == Deployment(name: "web", replicas: 3))
    }

    @Test func invalidYAMLIsADecodingFailure() async {
        let session = Session(transport: MockTransport { _ in .data(Data("name: [".utf8)) })

        let task = session.request("https://api.example.com/deployment").serializing(.yaml(of: Deployment.self))

        #expect(await task.response.error?.underlyingError is DecodingError)
    }

    @Test(arguments: [1, 3, 100])
    func documentsCanBeSplitAnywhere(size: Int) async {
        var response = MockResponse.data(Data("name: a\nreplicas: 1\n---\nname: b\nreplicas: 2\n".utf8))
        response.chunkSize = size
        let session = Session(transport: MockTransport { [response] _ in response })

        var names: [String] = []
        let request = session.streamRequest("https://api.example.com/deployments")
        for await stream in request.serializing(.yamlDocuments(of: Deployment.self)) {
            if let deployment = stream.value { names.append(deployment.name) }
        }

        #expect(names == ["a", "b"])
    }
}

enum PluginSamples {
    static func decoder() async throws {
        let deployment = try await AF.request("https://api.example.com/deployment")
            .serializingDecodable(Deployment.self, decoder: YAML())
            .value
        print("\(deployment.name) runs \(deployment.replicas) times")
    }

    static func handler() {
        AF.request("https://api.example.com/deployment").validate().response(.yaml(of: Deployment.self)) { response in
            if let deployment = response.value { print("\(deployment.replicas) of \(deployment.name)") }
        }
    }

    static func awaited() async throws {
        let deployment = try await AF.request("https://api.example.com/deployment")
            .validate()
            .serializing(.yaml(of: Deployment.self))
            .value
        print("\(deployment.name), awaited")
    }

    static func streamed() async throws {
        let request = AF.streamRequest("https://api.example.com/deployments").validate()
        for await stream in request.serializing(.yamlDocuments(of: Deployment.self)) {
            if let deployment = stream.value { print("Streamed \(deployment.name)") }
            if let error = stream.completion?.error { throw error }
        }
    }

    static func sent() async throws {
        let deployment = Deployment(name: "web", replicas: 5)
        let answer = try await AF.request(
            "https://api.example.com/deployments", method: .post, parameters: deployment, encoder: .yaml
        ).serializingString().value
        print(answer)
    }
}
