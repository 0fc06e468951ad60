import Afar
import AfarTestServer
import Foundation
import Testing

/// The `AFError` case for each failure.
@Suite struct FailureTests {
    private struct Refusing: URLRequestConvertible, Error {
        func asURLRequest() throws -> URLRequest { throw self }
    }

    private struct NotEncodable: Encodable {
        func encode(to encoder: Encoder) throws {
            throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "never"))
        }
    }

    private struct Refuser: RequestAdapter {
        func adapt(
            _ urlRequest: URLRequest, for session: Session, completion: @escaping (Result<URLRequest, Error>) -> Void
        ) {
            completion(.failure(URLError(.userAuthenticationRequired)))
        }
    }

    private func message(_ request: DataRequest) async -> FailureMessage? {
        await request.validate().serializingDecodable(Account.self).response.error.map(FailureMessage.init)
    }

    @Test func appErrors() async throws {
        let server = try await TestServer.start()
        #expect(await message(AF.request("http://[broken")) == .ownFault("URL http://[broken"))
        #expect(await message(AF.request(Refusing())) == .ownFault("request Refusing()"))
        #expect(
            await message(
                AF.request(server.url("/post"), method: .post, parameters: NotEncodable(), encoder: .json))
                == .ownFault("body"))
        var withBody = URLRequest(url: server.url("/get"))
        withBody.httpBody = Data([1, 2, 3])
        #expect(await message(AF.request(withBody)) == .ownFault("GET with 3 bytes"))
        #expect(
            await message(AF.request(server.url("/get"), interceptor: Interceptor(adapters: [Refuser()]))) == .signIn)
        #expect(server.requestCount == 0)
        await server.stop()
    }

    @Test func serviceErrors() async throws {
        let server = try await TestServer.start()
        #expect(await message(AF.request(server.url("/status/401"))) == .signIn)
        #expect(await message(AF.request(server.url("/status/404"))) == .notFound)
        #expect(await message(AF.request(server.url("/status/503"))) == .service(503))
        #expect(await message(AF.request(server.url("/status/204"))) == .unreadable("other"))
        #expect(await message(AF.request(server.url("/empty"))) == .unreadable("empty"))
        #expect(await message(AF.request(server.url("/get"))) == .unreadable("no name"))
        #expect(await message(AF.request(server.url("/text"))) == .unreadable("DecodingError"))
        #expect(
            await message(AF.request(server.url("/html"), headers: [.accept("text/json,application/json")]))
                == .unreadable("text/html, not application/json,text/json"))
        let json = await withCheckedContinuation { continuation in
            AF.request(server.url("/text")).responseJSON { continuation.resume(returning: $0.error) }
        }
        #expect(json.map(FailureMessage.init) == .unreadable("JSON"))
        let text = await AF.request(server.url("/image/png")).serializingString(encoding: .utf8).response
        #expect(text.error?.isResponseSerializationError == true)
        #expect(text.error?.failedStringEncoding == .utf8 && text.data?.isEmpty == false)
        await server.stop()
    }

    @Test func networkErrors() async throws {
        let server = try await TestServer.start()
        #expect(await message(AF.request("http://127.0.0.1:1/")) == .offline)
        let slow = AF.request(server.url("/delay/30")) { $0.timeoutInterval = 0.2 }
        #expect(await message(slow) == .timeout)
        #expect(slow.error?.underlyingError is URLError)
        let cancelled = AF.request(server.url("/delay/30"))
        cancelled.cancel()
        #expect(await message(cancelled) == .cancelled)
        #expect(cancelled.error?.errorDescription?.isEmpty == false)
        var session: Session? = Session()
        let orphan = session?.request(server.url("/delay/30"))
        async let response = orphan?.serializingData().response
        if let orphan { for await _ in orphan.urlSessionTasks() { break } }
        session = nil
        #expect(await response?.error?.isSessionDeinitializedError == true)
        await server.stop()
    }

    @Test func resultsAreMappedToAnAppsErrors() async throws {
        let server = try await TestServer.start()
        enum AppError: Error, Equatable { case failed(FailureMessage) }
        let response = await AF.request(server.url("/status/404")).validate().serializingData().response
        let mapped: DataResponse<Data, AppError> = response.mapError { .failed(FailureMessage($0)) }
        #expect(mapped.error == .failed(.notFound))
        let result: Result<Int, AppError> = response.map(\.count).result.mapError { .failed(FailureMessage($0)) }
        #expect(throws: AppError.failed(.notFound)) { try result.get() }
        let tried = await AF.request(server.url("/get")).serializingData().response.tryMap { _ in
            throw URLError(.badURL)
        }
        #expect(tried.error is URLError)
        do {
            _ = try await AF.request(server.url("/status/500")).validate().serializingData().value
            Issue.record("no error")
        } catch let error as AFError {
            #expect(error.responseCode == 500 && error.isResponseValidationError)
        }
        await server.stop()
    }
}
