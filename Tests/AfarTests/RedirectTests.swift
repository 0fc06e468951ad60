import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Redirects over the real transports.
struct RedirectTests {
    private struct Echo: Decodable, Sendable {
        var method: String
        var headers: [String: String]
        var data: String?
    }

    private static func location(_ url: URL, _ status: Int = 302, body: String = "moved") -> String {
        "HTTP/1.1 \(status) Elsewhere\r\nLocation: \(url)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let there = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere"

    // MARK: Following

    @Test(arguments: TransportKind.allCases)
    func aChainIsFollowedToItsEnd(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.request(server.url("/redirect/3"))
        let echo = try await request.validate().serializingDecodable(Echo.self).value
        #expect(echo.method == "GET")
        #expect(request.response?.url == server.url("/get"))
        #expect(request.metrics?.redirectCount == 3)
        #expect(request.metrics?.transactionMetrics.count == 4)
        #expect(server.requestCount == 4)
        await server.stop()
    }

    /// RFC 9110, section 10.2.2.
    @Test(arguments: TransportKind.allCases)
    func aResponsesURLHasItsFragment(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session { $0.cacheStore = MemoryCacheStore() }
        func url(_ path: String) async throws -> String? {
            let url = try #require(URL(string: server.url("/").absoluteString + path))
            let request = session.request(url)
            _ = try await request.validate().serializingData().value
            let response = try #require(request.response?.url?.absoluteString)
            return response.replacing(server.url("/").absoluteString, with: "")
        }
        #expect(try await url("get#top?a=b") == "get#top?a=b")
        for _ in 0..<2 { #expect(try await url("cache/60#%C3%BC") == "cache/60#%C3%BC") }
        #expect(try await url("redirect-to?url=/get#top") == "get#top")
        #expect(try await url("redirect-to?url=/get%23own#top") == "get#own")
        #expect(server.requestCount == 6)
        await server.stop()
    }

    @Test func aFragmentIsNotSent() async throws {
        let server = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 302 Found\r\nLocation: /b#secret\r\nContent-Length: 0\r\n\r\n"),
            .receiveHead, .send(Self.there), .close,
        ])
        let session = TransportKind.platform.session()
        let request = session.request(server.url.absoluteString + "a#secret")
        #expect(try await request.serializingString().value == "there")
        #expect(request.response?.url?.fragment == "secret")
        #expect(server.requests.count == 2 && server.requests.allSatisfy { !$0.contains("secret") })
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, [301, 302, 303, 307, 308])
    func aPOSTIsRedirectedPerTheStandard(kind: TransportKind, status: Int) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let url = server.url("/redirect-to?url=/anything&status_code=\(status)")
        let echo = try await session.request(url, method: .post, parameters: ["a": "b"])
            .serializingDecodable(Echo.self).value
        let isKept = status > 303
        #expect(echo.method == (isKept ? "POST" : "GET"))
        #expect(echo.data ?? "" == (isKept ? "a=b" : ""))
        #expect((echo.headers["content-type"] != nil) == isKept)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .fileUpload))
    func aFileIsResent(kind: TransportKind) async throws {
        let (server, directory) = (try await TestServer.start(), ScratchDirectory())
        let file = directory.url.appending(path: "body")
        try Data(repeating: 7, count: 300_000).write(to: file)
        let session = kind.session()
        let url = server.url("/redirect-to?url=/upload&status_code=307")
        let object = try await session.upload(file, to: url).serializingJSON().value as? [String: Any]
        #expect(object?["bytes"] as? Int == 300_000)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aLoopIsATypedError(kind: TransportKind) async throws {
        let server = try await RawServer.start([
            .loop([.respond("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")])
        ])
        let session = kind.session { $0.maximumRedirects = 5 }
        let error = await session.request(server.url).serializingData().response.error
        #expect((error?.underlyingError as? URLError)?.code == .httpTooManyRedirects)
        #expect(server.requests.count == 6)
        // All requests use one connection if the transport manages connections.
        if kind == .platform { #expect(server.connectionCount == 1) }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aRedirectCanBeIgnored(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let response = await session.request(server.url("/redirect-to?url=/get&status_code=302"))
            .redirect(using: .doNotFollow).serializingString(emptyResponseCodes: [302]).response
        #expect(response.response?.statusCode == 302)
        #expect(response.response?.value(forHTTPHeaderField: "Location") == "/get")
        #expect(server.requestCount == 1)
        await server.stop()
    }

    // MARK: Secrets

    /// The part of the origin that changes.
    enum Change: CaseIterable { case host, port }

    @Test(arguments: TransportKind.allCases, Change.allCases)
    func secretsAreNotSentToAnotherOrigin(kind: TransportKind, change: Change) async throws {
        let (server, other) = (try await TestServer.start(), try await TestServer.start())
        let session = kind.session { configuration in
            configuration.sensitiveHeaders = ["x-mine", "X-Default"]
            configuration.headers.add(name: "X-Default", value: "hush")
            configuration.headers.add(name: "Proxy-Authorization", value: "hush")
        }
        let port = try #require(server.url.port)
        let place = change == .port ? other.url("/anything") : URL(string: "http://localhost:\(port)/anything")
        let target = try #require(place).absoluteString
        let secrets = ["authorization", "cookie", "proxy-authorization", "x-mine", "x-default", "x-api-key"]
        for status in [301, 302, 303, 307, 308] {
            let request = session.request(
                server.url("/redirect-to?url=\(target)&status_code=\(status)"),
                headers: [
                    "Authorization": "hush", "Cookie": "hush", "X-Mine": "hush", "X-Api-Key": "hush", "X-Open": "plain",
                ])
            let echo = try await request.validate().serializingDecodable(Echo.self).value
            let first = try #require(server.lastRequest(path: "/redirect-to"))
            for name in secrets {
                // libcurl's transport sends proxy headers to no origin server.
                let isSent = kind != .platform || name != "proxy-authorization"
                #expect((first.headers[name] == "hush") == isSent, "\(status) \(name)")
                #expect(echo.headers[name] == nil, "\(status) \(name)")
            }
            #expect(echo.headers["x-open"] == "plain")
            #expect(!echo.headers.values.contains { $0.contains("hush") })
        }
        await server.stop()
        await other.stop()
    }

    // MARK: Bodies

    @Test(arguments: TransportKind.all(with: .fileDelivery))
    func aDownloadContainsTheLastResponse(kind: TransportKind) async throws {
        let (server, directory) = (try await TestServer.start(), ScratchDirectory())
        let session = kind.session()
        let place = directory.url.appending(path: "file")
        let request = session.download(server.url("/redirect-to?url=/large/100000"), to: { _, _ in (place, []) })
        let url = try await request.validate().serializingDownloadedFileURL().value
        #expect(try Data(contentsOf: url).count == 100_000)
        #expect(request.downloadProgress.completedUnitCount == 100_000)
        #expect(request.metrics?.redirectCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .fileDelivery))
    func anUnfollowedRedirectCanBeDownloaded(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let decline = Redirector.modify { _, _, _ in nil }
        let request = session.download(server.url("/redirect-to?url=/large/100000")).redirect(using: decline)
        let url = try await request.serializingDownloadedFileURL().value
        #expect(try String(contentsOf: url, encoding: .utf8) == "see /large/100000\n")
        #expect(request.response?.statusCode == 302)
        try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
        await server.stop()
    }

    @Test func aDownloadResumesThroughARedirect() async throws {
        let (server, directory) = (try await TestServer.start(), ScratchDirectory())
        let session = TransportKind.platform.session()
        let place = directory.url.appending(path: "file")
        let url = server.url("/redirect-to?url=/range/5000%3Fcuts%3D2000")
        let first = session.download(url, to: { _, _ in (place, []) })
        let broken = await first.serializingDownloadedFileURL().response
        let data = try #require(broken.resumeData)
        let second = session.download(resumingWith: data, to: { _, _ in (place, []) })
        #expect(try await second.validate().serializingDownloadedFileURL().value == place)
        #expect(second.response?.statusCode == 206)
        #expect(second.metrics?.redirectCount == 1)
        let whole = try await session.request(server.url("/range/5000")).serializingData().value
        #expect(try Data(contentsOf: place) == whole)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .streamedDelivery))
    func aStreamContainsTheLastResponse(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.streamRequest(server.url("/redirect-to?url=/stream/3"))
        var lines = 0
        for await text in request.streamTask().streamingStrings() {
            lines += (text.value ?? "").count { $0 == "\n" }
        }
        #expect(lines == 3)
        #expect(request.metrics?.redirectCount == 1)
        await server.stop()
    }

    // MARK: Between two hops

    @Test(arguments: TransportKind.all(with: .suspension))
    func aRequestCanBeSuspendedBetweenTwoHops(kind: TransportKind) async throws {
        let gate = RawServer.Gate()
        let other = try await RawServer.start([.respond(Self.there)])
        let server = try await RawServer.start([.receiveHead, .hold(gate), .send(Self.location(other.url))])
        let session = kind.session()
        let request = session.request(server.url)
        async let response = request.serializingData().response
        try await server.head()
        request.suspend()
        gate.open()
        #expect(request.isSuspended)
        request.resume()
        #expect(await response.value == Data("there".utf8))
        await server.stop()
        await other.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func cancellationDuringARedirectsBodyEndsTheRequest(kind: TransportKind) async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 100\r\n\r\nhalf"), .waitForever,
        ])
        let session = kind.session()
        let request = session.request(server.url)
        async let response = request.serializingData().response
        try await server.head()
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        try await server.peerClosed(0)
        await server.stop()
    }

    // MARK: Credentials

    @Test(arguments: TransportKind.allCases)
    func aChallengeIsAnswered(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.request(server.url("/redirect-to?url=/basic-auth/ada/se%253Acret"))
            .authenticate(username: "ada", password: "se:cret")
        let response = await request.validate().serializingData().response
        #expect(response.error == nil)
        #expect(request.metrics?.transactionMetrics.count == 3)
        let wrong = session.request(server.url("/basic-auth/ada/secret")).authenticate(username: "ada", password: "x")
        _ = await wrong.serializingData().response
        #expect(wrong.response?.statusCode == 401)
        await server.stop()
    }
}
