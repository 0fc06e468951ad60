import Afar
import AfarTestServer
import Foundation
import Testing

/// A library that wraps all kinds of requests in its own types.
@Suite struct ProviderTests {
    private struct Target: TargetType {
        let baseURL: URL
        var path = "anything"
        var method = Method.get
        var job = Job.plain
        var headers: [String: String]? = ["X-Target": "1"]
        var validCodes: [Int] = []
    }

    private func withServer(_ body: (TestServer, Provider<Target>) async throws -> Void) async throws {
        let server = try await TestServer.start()
        let provider = Provider<Target>(prepare: { urlRequest in
            var urlRequest = urlRequest
            urlRequest.addValue("yes", forHTTPHeaderField: "X-Prepared")
            return urlRequest
        })
        try await body(server, provider)
        await server.stop()
    }

    private func echo(_ target: Target, _ provider: Provider<Target>) async throws -> Echo {
        let result = await withCheckedContinuation { continuation in
            provider.request(target, callbackQueue: .global()) { continuation.resume(returning: $0) }
        }
        return try JSONDecoder().decode(Echo.self, from: result.get().data)
    }

    @Test func eachJobSucceeds() async throws {
        try await withServer { server, provider in
            let plain = try await echo(Target(baseURL: server.url), provider)
            #expect(plain.headers["x-target"] == "1")
            #expect(plain.headers["x-prepared"] == "yes")
            #expect(plain.headers["user-agent"]?.contains("Afar/") == true)
            let data = try await echo(Target(baseURL: server.url, method: .put, job: .data(Data("raw".utf8))), provider)
            #expect(data.method == "PUT" && data.data == "raw")
            let account = Account(name: "Ada", age: 36)
            let encodable = try await echo(
                Target(baseURL: server.url, method: .post, job: .encodable(account)), provider)
            #expect(try JSONDecoder().decode(Account.self, from: Data((encodable.data ?? "").utf8)) == account)
            let query = try await echo(
                Target(baseURL: server.url, job: .parameters(["b": [1, 2], "a": "ä"], encoding: URLEncoding.default)),
                provider)
            #expect(query.query == "a=%C3%A4&b%5B%5D=1&b%5B%5D=2")
            let json = try await echo(
                Target(
                    baseURL: server.url, method: .patch, job: .parameters(["a": 1], encoding: JSONEncoding.default)),
                provider)
            #expect(json.data == #"{"a":1}"# && json.headers["content-type"] == "application/json")
        }
    }

    @Test func filesAndFormsAreUploadedWithProgressOnTheMainQueue() async throws {
        try await withServer { server, provider in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("provider-\(UUID().uuidString)")
            try Data(repeating: 1, count: 100_000).write(to: file)
            let seen = Count()
            let target = Target(baseURL: server.url, path: "upload", method: .post, job: .uploadFile(file))
            let result = await withCheckedContinuation { continuation in
                provider.request(target) { progress in
                    dispatchPrecondition(condition: .onQueue(.main))
                    if progress.fractionCompleted == 1 { seen.increment() }
                } completion: {
                    continuation.resume(returning: $0)
                }
            }
            #expect(String(decoding: try result.get().data, as: UTF8.self).contains(#""bytes":100000"#))
            #expect(seen.value > 0)
            try FileManager.default.removeItem(at: file)
            let form = Target(
                baseURL: server.url, method: .post, job: .uploadForm([("a", Data("1".utf8)), ("b", Data("2".utf8))]))
            let echo = try await echo(form, provider)
            #expect(echo.headers["content-type"]?.hasPrefix("multipart/form-data; boundary=") == true)
            #expect(echo.data?.contains(#"name="b""#) == true)
        }
    }

    @Test func downloadsGoToTheirDestination() async throws {
        try await withServer { server, provider in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("provider-\(UUID().uuidString)")
            let target = Target(
                baseURL: server.url, path: "bytes/1000", job: .download { _, _ in (file, .removePreviousFile) })
            let result = await withCheckedContinuation { continuation in
                provider.request(target, callbackQueue: .main) { continuation.resume(returning: $0) }
            }
            #expect(try result.get().statusCode == 200)
            #expect(try Data(contentsOf: file).count == 1000)
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test func rejectionsAndCancellationsAreUnderlyingErrors() async throws {
        try await withServer { server, provider in
            let refused = await withCheckedContinuation { continuation in
                provider.request(Target(baseURL: server.url, path: "status/404", validCodes: Array(200..<300))) {
                    continuation.resume(returning: $0)
                }
            }
            guard case let .failure(.underlying(error, response?)) = refused else {
                Issue.record("not rejected: \(refused)")
                return
            }
            #expect(response.statusCode == 404)
            #expect(error.asAFError?.responseCode == 404)
            #expect(error.asAFError?.isResponseValidationError == true)
            let cancelled = await withCheckedContinuation { continuation in
                let token = provider.request(Target(baseURL: server.url, path: "delay/30")) {
                    continuation.resume(returning: $0)
                }
                token?.cancel()
                token?.cancel()
            }
            guard case .failure(.underlying(AFError.explicitlyCancelled, nil)) = cancelled else {
                Issue.record("not cancelled: \(cancelled)")
                return
            }
        }
    }

    @Test func aRequestExposesItsHeadersAndItsCommand() async throws {
        try await withServer { server, provider in
            let request = provider.session.request(server.url("/get"), headers: ["X-Own": "1"])
            let type: any RequestType = request
            let command = await withCheckedContinuation { continuation in
                _ = type.cURLDescription { continuation.resume(returning: $0) }
                request.resume()
            }
            #expect(command.contains("curl ") && command.contains("X-Own: 1"))
            _ = await request.serializingData().response
            #expect(type.sessionHeaders["X-Own"] == "1")
            #expect(type.request?.url == server.url("/get"))
        }
    }
}
