import Afar
import AfarTestServer
import Testing

/// Responses in all common forms.
@Suite struct ResponseTests {
    private func responses<Value>(
        _ count: Int, _ ask: (@escaping @Sendable (AFResult<Value>) -> Void) -> Void
    ) async -> [AFResult<Value>] where Value: Sendable {
        let (stream, continuation) = AsyncStream.makeStream(of: AFResult<Value>.self)
        ask { continuation.yield($0) }
        var results: [AFResult<Value>] = []
        for await result in stream.prefix(count) { results.append(result) }
        return results
    }

    @Test func dataAndStrings() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/text"))
        let queue = DispatchQueue(label: "queue")
        let data: [AFResult<Data>] = await responses(4) { done in
            request.responseData { response in done(response.result) }
            request.responseData(queue: queue) { done($0.result) }
            request.responseData(queue: .main, emptyResponseCodes: [200], emptyRequestMethods: [.get]) {
                done($0.result)
            }
            request.response(queue: .main, responseSerializer: DataResponseSerializer()) { done($0.result) }
        }
        #expect(data.allSatisfy { (try? $0.get()) != nil })
        let strings: [AFResult<String>] = await responses(6) { done in
            request.responseString { done($0.result) }
            request.responseString(encoding: .utf8) { done($0.result) }
            request.responseString(queue: queue, encoding: String.Encoding.isoLatin1) { done($0.result) }
            request.response(responseSerializer: StringResponseSerializer(encoding: .utf8)) { done($0.result) }
            request.response(responseSerializer: .string) { done($0.result) }
            request.response(queue: queue, responseSerializer: .string(encoding: .utf8)) { done($0.result) }
        }
        #expect(strings.allSatisfy { (try? $0.get()) != nil })
        let plain: [AFResult<Data?>] = await responses(3) { done in
            request.response { done($0.result) }
            request.response(queue: .global(qos: .utility)) { done($0.result) }
            request.response { (response: AFDataResponse<Data?>) in
                debugPrint(response.description.count)
                done(response.result)
            }
        }
        #expect(plain.allSatisfy { (try? $0.get()) != nil })
        await server.stop()
    }

    @Test func decodables() async throws {
        let server = try await TestServer.start()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let request = AF.request(server.url("/get"))
        let queue = DispatchQueue(label: "queue")
        let echoes: [AFResult<Echo>] = await responses(6) { done in
            request.responseDecodable(of: Echo.self) { response in done(response.result) }
            request.responseDecodable(of: Echo.self, queue: queue) { done($0.result) }
            request.responseDecodable(of: Echo.self, queue: .main, decoder: decoder) { done($0.result) }
            request.responseDecodable(decoder: decoder) { (response: AFDataResponse<Echo>) in done(response.result) }
            request.responseDecodable { (response: DataResponse<Echo, AFError>) in done(response.result) }
            request.response(responseSerializer: DecodableResponseSerializer<Echo>(decoder: decoder)) {
                done($0.result)
            }
        }
        #expect(echoes.allSatisfy { (try? $0.get())?.method == "GET" })
        let json: [AFResult<Bool>] = await responses(1) { done in
            request.responseJSON { response in done(response.result.map { $0 is [String: Any] }) }
        }
        #expect(try json[0].get())
        await server.stop()
    }

    @Test func awaited() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/get"))
        let task: DataTask<Echo> = request.serializingDecodable()
        #expect(try await task.value.method == "GET")
        #expect(try await request.serializingDecodable(Echo.self, decoder: JSONDecoder()).value.method == "GET")
        #expect(try await request.serializingDecodable(Echo.self, automaticallyCancelling: false).value.method == "GET")
        #expect(
            try await request.serializingString(automaticallyCancelling: true, encoding: .utf8).value.isEmpty == false)
        #expect(try await request.serializingData().value.isEmpty == false)
        #expect(try await request.serializingResponse(using: .data).value.isEmpty == false)
        #expect(try await request.serializingResponse(using: StringResponseSerializer()).value.isEmpty == false)
        #expect(try await request.serializingResponse(using: .decodable(of: Echo.self)).result.get().method == "GET")
        let cancelled = AF.request(server.url("/delay/5")).serializingData()
        cancelled.cancel()
        switch await cancelled.result {
        case .success: Issue.record("it was cancelled")
        case let .failure(error): #expect(error.isExplicitlyCancelledError)
        }
        await server.stop()
    }

    private struct Lines: ResponseSerializer {
        let separator: Character

        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?
        ) throws -> [String] {
            if let error { throw error }
            guard let data, !data.isEmpty else {
                guard emptyResponseAllowed(forRequest: request, response: response) else {
                    throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
                }
                return []
            }
            let text = try StringResponseSerializer(dataPreprocessor: dataPreprocessor)
                .serialize(request: request, response: response, data: data, error: error)
            return text.split(separator: separator).map(String.init)
        }
    }

    private struct Status: DataResponseSerializerProtocol {
        func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?) throws -> Int {
            if let error { throw error }
            return response?.statusCode ?? 0
        }
    }

    @Test func customSerializers() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/stream/3"))
        let lines: [AFResult<[String]>] = await responses(1) { done in
            request.response(responseSerializer: Lines(separator: "\n")) { done($0.result) }
        }
        #expect(try lines[0].get().count == 3)
        #expect(try await request.serializingResponse(using: Status()).value == 200)
        let empty = AF.request(server.url("/status/204"))
        #expect(try await empty.serializingResponse(using: Lines(separator: ",")).value.isEmpty)
        #expect(try await empty.serializingDecodable(Empty.self).value == Empty.value)
        await server.stop()
    }

    @Test func validationInItsForms() async throws {
        struct Refused: Error {}
        let server = try await TestServer.start()
        let chains: [(DataRequest) -> DataRequest] = [
            { $0.validate() },
            { $0.validate(statusCode: 200..<300) },
            { $0.validate(statusCode: 200...299) },
            { $0.validate(statusCode: [200, 201]) },
            { $0.validate(statusCode: Set(200..<300)) },
            { $0.validate(contentType: ["application/json"]) },
            { $0.validate(statusCode: 200..<300).validate(contentType: ["application/json", "text/*"]) },
            { $0.validate { _, response, _ in response.statusCode == 200 ? .success(()) : .failure(Refused()) } },
            {
                $0.validate { request, response, data -> Request.ValidationResult in
                    guard request != nil, data?.isEmpty == false else { return .failure(Refused()) }
                    return .success(())
                }
            },
            { $0.validate { _, _, _ in .success } },
        ]
        for validated in chains {
            #expect(await validated(AF.request(server.url("/get"))).serializingData().response.error == nil)
        }
        let refused = await AF.request(server.url("/get")).validate { _, _, _ in .failure(Refused()) }
            .serializingData().response
        #expect(refused.error?.isResponseValidationError == true)
        #expect(refused.error?.underlyingError is Refused)
        await server.stop()
    }

    private func describe(_ error: AFError) -> String {
        switch error {
        case let .invalidURL(url): "invalid URL \(url)"
        case let .parameterEncodingFailed(reason): "encoding \(reason)"
        case let .parameterEncoderFailed(reason): "encoder \(reason)"
        case let .multipartEncodingFailed(reason): "multipart \(reason)"
        case let .responseValidationFailed(reason):
            switch reason {
            case .dataFileNil, .dataFileReadFailed: "file"
            case let .missingContentType(acceptable): "no type of \(acceptable)"
            case let .unacceptableContentType(acceptable, type): "\(type), not \(acceptable)"
            case let .unacceptableStatusCode(code): "status \(code)"
            case let .customValidationFailed(error): "\(error)"
            }
        case let .responseSerializationFailed(reason):
            switch reason {
            case .inputDataNilOrZeroLength: "empty"
            case let .decodingFailed(error): "decoding \(type(of: error))"
            default: "\(reason)"
            }
        case let .sessionTaskFailed(error):
            if let error = error as? URLError, error.code == .cannotConnectToHost { "unreachable" } else { "\(error)" }
        case let .requestRetryFailed(retryError, originalError): "\(retryError) after \(originalError)"
        case let .createURLRequestFailed(error), let .requestAdaptationFailed(error): "\(error)"
        case .explicitlyCancelled: "cancelled"
        case .sessionDeinitialized, .sessionInvalidated: "session"
        default: error.errorDescription ?? error.localizedDescription
        }
    }

    @Test func errorsAreDistinguished() async throws {
        let server = try await TestServer.start()
        let port = try ClosedPort()
        func error(_ request: DataRequest) async -> String? {
            await request.validate().serializingDecodable(Account.self).response.error.map(describe)
        }
        #expect(await error(AF.request("")) == "invalid URL ")
        #expect(await error(AF.request(server.url("/status/418"))) == "status 418")
        #expect(await error(AF.request(server.url("/json"))) == "decoding DecodingError")
        #expect(await error(AF.request(server.url("/empty"))) == "empty")
        #expect(await error(AF.request(port.url)) == "unreachable")
        #expect(
            await error(AF.request(server.url("/text"), headers: [.accept("image/png")]))?.hasPrefix("text/plain")
                == true)
        await server.stop()
    }

    @Test func responsesCreatedByTests() throws {
        struct Own: Error {}
        let response = DataResponse<Int, AFError>(
            request: nil, response: nil, data: nil, metrics: nil, serializationDuration: 0, result: .success(1))
        #expect(response.map { $0 + 1 }.value == 2)
        #expect(response.tryMap { _ -> Int in throw Own() }.error is Own)
        #expect(response.mapError { _ in Own() }.error == nil)
        let failure: AFResult<Int> = .failure(AFError.explicitlyCancelled)
        #expect(throws: AFError.self) { try failure.get() }
    }
}

/// A screen's model. Closures in its methods capture it, as in view models and controllers.
@MainActor private final class ScreenModel {
    private(set) var text = ""
    private(set) var isLoading = false

    func load(_ url: URL) async {
        isLoading = true
        await withCheckedContinuation { continuation in
            AF.request(url).validate().responseString { [weak self] response in
                MainActor.assumeIsolated {
                    self?.show(response)
                    continuation.resume()
                }
            }
        }
    }

    func show(_ response: AFDataResponse<String>) {
        isLoading = false
        if case let .success(value) = response.result { text = value }
    }
}

@Suite struct MainActorTests {
    @MainActor @Test func aMainActorModelReceivesItsResponseThere() async throws {
        let server = try await TestServer.start()
        let model = ScreenModel()
        await model.load(server.url("/text"))
        #expect(!model.text.isEmpty && !model.isLoading)
        await server.stop()
    }
}
