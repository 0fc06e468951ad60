import Afar
import AfarParallelDownloads
import AfarTestServer
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Downloads whose URL redirects to mirrors.
@Suite(.timeLimit(.minutes(2))) struct MirrorTests {
    private let session = Session()

    /// Starts a server whose path `/moved` redirects, one request after another, to these URLs.
    private func front(_ urls: [URL]) async throws -> TestServer {
        let front = try await TestServer.start()
        let counter = Counter()
        front.route("/moved") { _ in
            let url = urls[counter.next() % urls.count]
            return ServerResponse(status: 302, headers: ["Location": url.absoluteString])
        }
        return front
    }

    @Test func allPartsAreRequestedFromTheFirstMirror() async throws {
        let servers = [try await FileServer(.sample(4 * mebibyte)), try await FileServer(.sample(4 * mebibyte))]
        let front = try await front(servers.map(\.url))
        _ = try await session.download(front.url("/moved"), parallel: 4, to: servers[0].file).value
        #expect(try servers[0].isComplete())
        #expect(front.requestCount == 1)
        #expect(servers[1].requestCount == 0)
    }

    /// Like the target of a redirect, a mirror receives no credentials, whether they come from headers, adapters or the session.
    @Test func mirrorsReceiveNoCredentials() async throws {
        let requests = Requests()
        let server = try await FileServer(.sample(4 * mebibyte)) { _, request, _ in requests.append(request) }
        let front = try await front([server.url])
        var configuration = SessionConfiguration.default
        configuration.headers.add(name: "X-Api-Key", value: "secret-1")
        configuration.sensitiveHeaders.insert("X-Own")
        let adapter = Adapter { request, _, completion in
            var request = request
            request.setValue("Bearer secret-2", forHTTPHeaderField: "Authorization")
            request.url?.append(queryItems: [URLQueryItem(name: "key", value: "secret-3")])
            completion(.success(request))
        }
        let session = Session(configuration: configuration, interceptor: Interceptor(adapters: [adapter]))
        let download = session.download(
            front.url("/moved"), parallel: 4, headers: ["X-Own": "secret-4", "X-Plain": "1"],
            prepare: { $0.authenticate(username: "ada", password: "secret-5") }, to: server.file)
        _ = try await download.value
        #expect(try server.isComplete())
        #expect(front.requestCount == 1)
        #expect(front.lastRequest(path: "/moved")?.headers["Authorization"] == "Bearer secret-2")
        #expect(requests.all.count > 1)
        for request in requests.all {
            let text = "\(request.target) \(request.headers)"
            #expect(!text.contains("secret"), "\(text)")
            #expect(request.headers["X-Plain"] == "1")
            #expect(request.headers["Authorization"] == nil)
        }
    }

    @Test func credentialsRemainAtTheSameOrigin() async throws {
        let server = try await FileServer(.sample(4 * mebibyte)) { _, request, answer in
            if request.headers["Authorization"] == nil {
                answer.status = 401
                answer.headers["WWW-Authenticate"] = "Basic realm=\"r\""
            }
        }
        server.server.route("/latest") { _ in ServerResponse(status: 302, headers: ["Location": "/file"]) }
        let url = server.url.absoluteString
            .replacing("http://", with: "http://ada:word@").replacing("/file", with: "/latest")
        _ = try await session.download(url, parallel: 4, to: server.file).value
        #expect(try server.isComplete())
        #expect(server.server.requestCount(path: "/latest") == 1)
    }

    /// The signature in a redirect's target can expire during the download.
    @Test func theOriginalURLIsRequestedAgainIfTheMirrorRefuses() async throws {
        let server = try await FileServer(.sample(8 * mebibyte)) { number, request, answer in
            // The first signature is valid for two requests.
            if number > 1, request.target.hasSuffix("signature=0") { (answer.status, answer.bytes) = (403, 0..<0) }
        }
        let front = try await front(
            (0..<9).map { server.url.appending(queryItems: [.init(name: "signature", value: "\($0)")]) })
        _ = try await session.download(front.url("/moved"), parallel: 2, to: server.file).value
        #expect(try server.isComplete())
        #expect(front.requestCount > 1)
    }

    /// Validators of other mirrors can't be compared.
    @Test func anotherMirrorIsNotMixedIn() async throws {
        let first = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
            if number > 0 { (answer.status, answer.bytes) = (403, 0..<0) }
        }
        let second = try await FileServer(.sample(4 * mebibyte, seed: 2))
        let front = try await front([first.url, second.url])
        let error = await session.download(front.url("/moved"), parallel: 1, to: first.file).result.error as? AFError
        #expect(error?.responseCode == 403)
        #expect(first.names.isEmpty)
    }
}
