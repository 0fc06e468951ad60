import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Typical code for Alamofire 5, on the shared session.
@Suite struct SampleChainTests {
    @Test func aStringWithAStatusRange() async throws {
        let server = try await TestServer.start()
        let url = server.url("/text")
        let text = await withCheckedContinuation { continuation in
            AF.request(url).validate(statusCode: 200..<300).responseString { response in
                continuation.resume(returning: response.result.value)
            }
        }
        #expect(text?.isEmpty == false)
        await server.stop()
    }

    @Test func twoHandlersOnOneRequest() async throws {
        let server = try await TestServer.start()
        let calls = Locked<[String]>([])
        let done = Deferred<Void>()
        AF.request(server.url("/json"))
            .responseString { response in calls.withLock { $0.append("string \(response.value != nil)") } }
            .responseJSON { response in
                calls.withLock { $0.append("json \(response.value is [String: Any])") }
                done.fulfill(())
            }
        await done.value
        #expect(calls.withLock { $0 } == ["string true", "json true"])
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test func aCustomValidatorThatSeesTheData() async throws {
        struct Unexpected: Error {}
        let server = try await TestServer.start()
        let response = await AF.request(server.url("/json"))
            .validate { _, _, data in
                guard let data, data.first == UInt8(ascii: "[") else { return .failure(Unexpected()) }
                return .success(())
            }
            .serializingData().response
        #expect(response.error?.isResponseValidationError == true)
        #expect(response.error?.underlyingError is Unexpected)
        await server.stop()
    }

    @Test func aCustomSerializer() async throws {
        struct LineCount: ResponseSerializer {
            func serialize(
                request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
            ) throws -> Int {
                if let error { throw error }
                return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n").count
            }
        }
        let server = try await TestServer.start()
        let count = await withCheckedContinuation { continuation in
            AF.request(server.url("/stream/3")).response(responseSerializer: LineCount()) { response in
                continuation.resume(returning: response.value)
            }
        }
        #expect(count == 3)
        await server.stop()
    }

    enum Endpoint: URLConvertible {
        case user(Int, server: URL)

        func asURL() throws -> URL {
            switch self {
            case .user(let id, let server): server.appendingPathComponent("anything/users/\(id)")
            }
        }
    }

    @Test func anEnumThatIsAURL() async throws {
        let server = try await TestServer.start()
        let echo = try await AF.request(Endpoint.user(7, server: server.url))
            .serializingDecodable(DataRequestTests.Echo.self).value
        #expect(echo.path == "/anything/users/7")
        await server.stop()
    }

    @Test func theSameChainsWithAwait() async throws {
        let server = try await TestServer.start()
        let task = AF.request(server.url("/text")).validate(statusCode: 200..<300).serializingString()
        let response = await task.response
        #expect(response.response?.statusCode == 200)
        #expect(await task.result.error == nil)
        #expect(try await task.value == response.value)
        await server.stop()
    }

    @Test func propertyListsAndDecodables() async throws {
        struct Anything: Decodable, Sendable {}
        let server = try await TestServer.start()
        for path in ["/plist", "/plist/binary"] {
            let object = try await AF.request(server.url(path)).serializingPropertyList().value
            #expect(object is [String: Any])
            _ = try await AF.request(server.url(path))
                .serializingDecodable(Anything.self, decoder: PropertyListDecoder()).value
        }
        await server.stop()
    }

    @Test func aSessionFromFoundationsConfiguration() async throws {
        let server = try await TestServer.start()
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 5
        configuration.httpAdditionalHeaders = ["X-Additional": "yes"]
        let session = Session(configuration: configuration)
        let echo = try await session.request(server.url("/get")).serializingDecodable(DataRequestTests.Echo.self).value
        #expect(echo.headers["x-additional"] == "yes")
        #expect(session.configuration.timeoutIntervalForRequest == 5)
        await server.stop()
    }
}
