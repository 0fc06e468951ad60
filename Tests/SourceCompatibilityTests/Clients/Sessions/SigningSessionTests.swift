import Afar
import AfarTestServer
import Foundation
import Testing

/// Subclasses of open classes.
@Suite struct SigningSessionTests {
    @Test func eachOverriddenMethodIsCalled() async throws {
        let server = try await TestServer.start()
        let session = SigningSession()
        let url = server.url("/anything")
        let plain = try await session.request(url).serializingDecodable(Echo.self).value
        let dictionary = try await session.request(url, parameters: ["a": 1 as Int, "b": true] as Parameters)
            .serializingDecodable(Echo.self).value
        let encodable = try await session.request(url, method: .post, parameters: Account(name: "Ada", age: 36))
            .serializingDecodable(Echo.self).value
        _ = try await session.request(URLRequest(url: url)).serializingDecodable(Echo.self).value
        let data = try await session.upload(Data("bytes".utf8), to: url).serializingDecodable(Echo.self).value
        let form = MultipartFormData()
        form.append(Data("1".utf8), withName: "a")
        let multipart = try await session.upload(multipartFormData: form, to: url).serializingDecodable(Echo.self).value
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("subclass-\(UUID().uuidString)")
        try Data("file".utf8).write(to: file)
        let sent = try await session.upload(file, with: URLRequest(url: url, method: .put))
            .serializingDecodable(Echo.self).value
        try FileManager.default.removeItem(at: file)
        #expect(sent.method == "PUT" && sent.data == "file")
        _ = try await session.download(url).serializingData().value
        session.streamRequest(url).cancel()
        for echo in [plain, dictionary, encodable, data, multipart] {
            #expect(echo.headers["x-signature"] == "signed")
        }
        #expect(dictionary.query == "a=1&b=1")
        #expect(encodable.data == "age=36&name=Ada")
        // All other methods call this one, so a single override receives all requests.
        #expect(
            session.notes.all == [
                "parameters", "convertible", "parameters", "convertible", "encodable", "convertible", "convertible",
                "upload data", "upload form", "upload file", "download", "stream",
            ])
        await server.stop()
    }

    @Test func anAdaptersErrorIsTheRequests() async throws {
        let server = try await TestServer.start()
        let adapter = VersionAdapter(version: "7")
        let echo = try await AF.request(server.url("/get"), interceptor: Interceptor(adapters: [adapter]))
            .serializingDecodable(Echo.self).value
        #expect(echo.headers["x-version"] == "7")
        let response = await AF.request(server.url("/get/refused"), interceptor: adapter).serializingData().response
        guard case let .requestAdaptationFailed(error)? = response.error else {
            Issue.record("unexpected error: \(response)")
            return
        }
        #expect((error as? URLError)?.code == .userAuthenticationRequired)
        #expect(response.error?.underlyingError is URLError)
        #expect(response.error?.isRequestAdaptationError == true)
        #expect(server.requestCount(path: "/get/refused") == 0)
        await server.stop()
    }

    @Test func aConfigurationIsReadBack() {
        let configuration = URLSessionConfiguration.af.default
        configuration.timeoutIntervalForRequest = 7
        configuration.timeoutIntervalForResource = 70
        configuration.httpMaximumConnectionsPerHost = 3
        configuration.headers.add(name: "X-Own", value: "1")
        let session = Session(configuration: configuration)
        let copy = session.sessionConfiguration
        #expect(copy.timeoutIntervalForRequest == 7 && copy.timeoutIntervalForResource == 70)
        #expect(copy.httpMaximumConnectionsPerHost == 3)
        #expect(copy.headers["X-Own"] == "1" && copy.headers["User-Agent"] == HTTPHeader.defaultUserAgent.value)
        // This is a copy, so changes have no effect.
        session.sessionConfiguration.timeoutIntervalForRequest = 9
        #expect(session.sessionConfiguration.timeoutIntervalForRequest == 7)
    }
}
