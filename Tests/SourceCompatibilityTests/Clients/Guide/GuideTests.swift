import Afar
import AfarTestServer
import Foundation
import Testing

/// Requests as in introductory guides: a few lines, with most arguments omitted.
@Suite struct GuideTests {
    private struct Login: Encodable {
        let email: String
        let password: String
    }

    private struct Answer: Decodable, Sendable { let url: String?, method: String, data: String?, query: String? }

    @Test func firstSteps() async throws {
        let server = try await TestServer.start()
        let base = server.url.absoluteString
        AF.request("\(base)/get").response { response in
            debugPrint(response)
        }
        let login = Login(email: "test@test.test", password: "testPassword")
        AF.request("\(base)/post", method: .post, parameters: login, encoder: JSONParameterEncoder.default)
            .cURLDescription { description in
                print(description)
            }
            .responseDecodable(of: Answer.self) { response in
                debugPrint("Response: \(response)")
                print(response.metrics?.taskInterval.duration ?? 0)
            }
        let parameters: [String: [String]] = ["foo": ["bar"], "baz": ["a", "b"], "qux": ["x", "y", "z"]]
        let forms = await [
            AF.request("\(base)/anything", method: .post, parameters: parameters),
            AF.request(
                "\(base)/anything", method: .post, parameters: parameters,
                encoder: URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets))),
            AF.request("\(base)/anything", parameters: parameters, encoder: .urlEncodedForm(destination: .httpBody)),
        ].asyncMap { await $0.serializingDecodable(Answer.self).result.map { $0.data ?? "" } }
        #expect(try forms[0].get() == "baz%5B%5D=a&baz%5B%5D=b&foo%5B%5D=bar&qux%5B%5D=x&qux%5B%5D=y&qux%5B%5D=z")
        #expect(try forms[1].get() == "baz=a&baz=b&foo=bar&qux=x&qux=y&qux=z")
        guard case .failure(.urlRequestValidationFailed(reason: .bodyDataInGETRequest)) = forms[2] else {
            Issue.record("a GET with a body: \(forms[2])")
            return
        }
        await server.stop()
    }

    @Test func headersInEachForm() async throws {
        let server = try await TestServer.start()
        let lists: [HTTPHeaders] = [
            ["Authorization": "Basic VXNlcm5hbWU6UGFzc3dvcmQ=", "Accept": "application/json"],
            [.authorization(username: "Username", password: "Password"), .accept("application/json")],
            HTTPHeaders([
                .init(name: "Authorization", value: "Basic VXNlcm5hbWU6UGFzc3dvcmQ="), .accept("application/json"),
            ]),
            HTTPHeaders(["authorization": "Basic VXNlcm5hbWU6UGFzc3dvcmQ=", "ACCEPT": "application/json"]),
        ]
        for headers in lists {
            let echo = try await AF.request(server.url("/headers"), headers: headers)
                .serializingDecodable([String: [String: String]].self, decoder: HeadersOnly()).value
            #expect(echo["headers"]?["authorization"] == "Basic VXNlcm5hbWU6UGFzc3dvcmQ=")
            #expect(echo["headers"]?["accept"] == "application/json")
        }
        await server.stop()
    }

    private struct HeadersOnly: DataDecoder {
        func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
            let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            let headers = ["headers": object?["headers"] as? [String: String] ?? [:]]
            return try JSONDecoder().decode(type, from: JSONEncoder().encode(headers))
        }
    }

    @Test func tasksAreAwaitedInEachForm() async throws {
        let server = try await TestServer.start()
        let task = AF.request(server.url("/get"), interceptor: .retryPolicy).validate().serializingDecodable(
            Answer.self)
        let response = await task.response
        let result = await task.result
        let value = try await task.value
        #expect(response.value?.method == "GET" && (try? result.get()) != nil && value.method == "GET")
        async let first = AF.request(server.url("/get")).serializingData().value
        async let second = AF.request(server.url("/text")).serializingString().value
        let (data, text) = try await (first, second)
        #expect(!data.isEmpty && !text.isEmpty)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for count in 1...5 {
                group.addTask { try await AF.download(server.url("/bytes/\(count)")).serializingData().value.count }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 15)
        let kept = AF.request(server.url("/delay/30"))
        let waiting = kept.serializingData(automaticallyCancelling: true)
        let outer = Task { await waiting.response }
        for await _ in kept.urlSessionTasks() { break }
        outer.cancel()
        #expect(await outer.value.error?.isExplicitlyCancelledError == true)
        #expect(kept.isCancelled)
        let ended = AF.request(server.url("/delay/30")).serializingString()
        ended.cancel()
        #expect(await ended.response.error?.isExplicitlyCancelledError == true)
        await server.stop()
    }

    @Test func aRequestReportsItsEvents() async throws {
        let server = try await TestServer.start()
        let notes = Notes()
        let request = AF.request(server.url("/get")) { $0.headers.add(name: "X-Modified", value: "1") }
            .onURLRequestCreation(on: .global()) { notes.add("request \($0.headers["X-Modified"] ?? "")") }
            .onURLSessionTaskCreation(on: .global()) { _ in notes.add("task") }
            .onHTTPResponse(on: .global()) { response in notes.add("head \(response.statusCode)") }
            .onHTTPResponse(on: .global()) { response, completion in
                notes.add("asked \(response.statusCode)")
                completion(.allow)
            }
        let echo = try await request.serializingDecodable(Echo.self).value
        #expect(echo.headers["x-modified"] == "1")
        #expect(Set(notes.all).isSuperset(of: ["request 1", "task"]))
        #expect(notes.all.contains { $0.hasSuffix("200") })
        let refused = await AF.request(server.url("/large/1000"))
            .onHTTPResponse { _, completion in completion(.cancel) }
            .serializingData().response
        #expect(refused.error?.isExplicitlyCancelledError == true)
        #expect(request.request?.httpMethod == "GET" && request.lastRequest == request.firstRequest)
        #expect(request.performedRequests.count == 1 && request.tasks.count == 1)
        await server.stop()
    }

    @Test func sessionsAreEndedImmediately() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let requests = (0..<4).map { _ in session.request(server.url("/delay/30")) }
        let tasks = requests.map { $0.serializingData() }
        await withCheckedContinuation { continuation in
            session.withAllRequests { all in
                #expect(all == Set(requests))
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            session.cancelAllRequests {
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume()
            }
        }
        for task in tasks { #expect(await task.response.error?.isExplicitlyCancelledError == true) }
        await server.stop()
    }
}

extension Array {
    fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
        var all: [T] = []
        for element in self { all.append(try await transform(element)) }
        return all
    }
}
