import Afar
import AfarStages
import AfarTestServer
import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The credentials of `.netrc` files, sent to servers.
@Suite(.timeLimit(.minutes(1))) struct NetrcTests {
    private let directory = ScratchDirectory()

    private func file(_ text: String, permissions: Int = 0o600) throws -> URL {
        let file = directory.url.appending(path: "netrc-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
        return file
    }

    private func interceptor(_ text: String) throws -> NetrcInterceptor { try NetrcInterceptor(file: file(text)) }

    private func basic(_ text: String) -> String { "Basic \(Data(text.utf8).base64EncodedString())" }

    // MARK: Requests

    @Test func theFirstRequestHasTheCredentials() async throws {
        let server = try await TestServer.start()
        let session = Session(
            interceptor: try interceptor(
                "machine localhost login other password o\nmachine 127.0.0.1 login ada password s3:cret"))
        let response = await session.request(server.url("/basic-auth/ada/s3:cret")).validate().serializingData()
            .response
        #expect(response.error == nil)
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test func explicitCredentialsHavePriority() async throws {
        let server = try await TestServer.start()
        let session = Session(interceptor: try interceptor("default login ada password secret"))
        _ = await session.request(server.url("/get"), headers: [.authorization(bearerToken: "t")]).serializingData()
            .response
        #expect(server.lastRequest(path: "/get")?.headers["authorization"] == "Bearer t")
        let named = server.url("/get").absoluteString.replacing("://", with: "://eve:e@")
        _ = await session.request(named).serializingData().response
        #expect(server.lastRequest(path: "/get")?.headers["authorization"] == basic("eve:e"))
        var configuration = SessionConfiguration.default
        configuration.headers.add(.authorization(bearerToken: "session"))
        let other = Session(
            configuration: configuration, interceptor: try interceptor("default login ada password secret"))
        _ = await other.request(server.url("/get")).serializingData().response
        #expect(server.lastRequest(path: "/get")?.headers["authorization"] == "Bearer session")
        let response = await session.request(server.url("/basic-auth/eve/e")).authenticate(
            username: "eve", password: "e"
        )
        .validate().serializingData().response
        #expect(response.error == nil)
        await server.stop()
    }

    @Test func theFileHasThePasswordOfAUser() async throws {
        let server = try await TestServer.start()
        let text =
            "machine 127.0.0.1 login ada password a\nmachine 127.0.0.1 login eve password e\ndefault login kim password k"
        let session = Session(interceptor: try interceptor(text))
        for (user, sent) in [("eve", "eve:e"), ("kim", "kim:"), ("ada:b", "ada:b")] {
            let url = server.url("/get").absoluteString.replacing("://", with: "://\(user)@")
            _ = await session.request(url).serializingData().response
            #expect(server.lastRequest(path: "/get")?.headers["authorization"] == basic(sent))
        }
        await server.stop()
    }

    @Test func webSocketsHaveTheCredentials() async throws {
        let server = try await TestServer.start()
        let session = Session(interceptor: try interceptor("machine 127.0.0.1 login ada password secret"))
        let url = server.url("/get").absoluteString.replacing("http:", with: "ws:")
        var messages = session.webSocketRequest(to: url).webSocketTask().messages.makeAsyncIterator()
        // The server doesn't accept WebSockets.
        await #expect(throws: AFError.self) { try await messages.next() }
        #expect(server.lastRequest(path: "/get")?.headers["authorization"] == basic("ada:secret"))
        await server.stop()
    }

    /// Without TLS, the proxy would receive the credentials, and so would the server to which a connection is diverted.
    @Test(arguments: [true, false]) func otherMachinesDoNotReceiveTheCredentials(isProxy: Bool) async throws {
        let server = try await TestServer.start()
        var configuration = SessionConfiguration.default
        let port = try #require(server.url("/").port)
        var network = NetworkSettings.none
        if isProxy {
            network.proxies = ProxySettings(try Proxy("http://127.0.0.1:\(port)"))
        } else {
            // This form of the address isn't recognized as one of this machine.
            network.connectTo = ["localhost:9": "127.1:\(port)"]
        }
        configuration.network = network
        let session = Session(
            configuration: configuration, interceptor: try interceptor("machine localhost login ada password secret"))
        let response = await session.request("http://localhost:9/get").serializingData().response
        #expect(response.error == nil)
        #expect(try #require(server.lastRequest(path: "/get")).headers["authorization"] == nil)
        await server.stop()
    }

    /// Hosts that require https receive the credentials over https, also from http URLs.
    @Test func httpURLsAreUpgraded() async throws {
        let transport = MockTransport { _ in .status(200) }
        let store = MemoryHSTSStore()
        var configuration = SessionConfiguration.default
        configuration.hstsStore = store
        let host = try #require(HSTSHost(name: "example.com", includesSubdomains: false, expires: Date() + 1_000))
        store.store(host, now: Date())
        let text = "machine example.com port 443 login ada password a machine example.com login eve password e"
        let session = Session(
            configuration: configuration,
            interceptor: try interceptor(text + " machine example.org login kim password k"),
            transport: transport)
        for (url, sent, credentials) in [
            ("http://example.com/a%2Fb?c=%7e", "https://example.com/a%2Fb?c=%7e", "ada:a"),
            ("http://EXAMPLE.com:80/", "https://example.com/", "ada:a"),
            ("http://example.com:8080/", "https://example.com:8080/", "eve:e"),
            ("http://example.org/", "http://example.org/", nil),
        ] {
            let response = await session.request(url).serializingData(emptyResponseCodes: [200]).response
            #expect(response.error == nil)
            let request = try #require(transport.requests.last)
            #expect(request.url.lowercased() == sent.lowercased())
            #expect(request.fields[.authorization] == credentials.map { basic($0) })
        }
        // The policy can expire between two attempts.
        store.store(
            try #require(HSTSHost(name: "example.com", includesSubdomains: false, expires: .distantPast)), now: Date())
        _ = await session.request("http://example.com/").serializingData().response
        #expect(transport.requests.last?.fields.contains(.authorization) == false)
        #expect(transport.requests.last?.url == "http://example.com/")
    }

    @Test func aRedirectToAnotherOriginHasNoCredentials() async throws {
        let (server, other) = (try await TestServer.start(), try await TestServer.start())
        let session = Session(interceptor: try interceptor("machine 127.0.0.1 login ada password secret"))
        let target = other.url("/get").absoluteString
        let redirect = server.url("/redirect-to").appending(queryItems: [URLQueryItem(name: "url", value: target)])
        let response = await session.request(redirect).validate().serializingData().response
        #expect(response.error == nil)
        #expect(server.lastRequest(path: "/redirect-to")?.headers["authorization"] == basic("ada:secret"))
        #expect(try #require(other.lastRequest(path: "/get")).headers["authorization"] == nil)
        await server.stop()
        await other.stop()
    }

    @Test(arguments: [
        ("https://example.com/", true), ("https://EXAMPLE.com.:8443/x?y", true), ("http://example.com/", false),
        ("https://www.example.com/", false), ("https://example.com.evil.test/", false),
        ("https://eve@example.com/", false),
        ("https://example.org/#@example.com", false), ("https://evil.test\\@example.com/", false),
        ("http://[::1]:8080/", true), ("http://127.0.0.9/", true), ("http://localhost./", true),
        ("http://127.0.0.1.evil.test/", false), ("http://10.0.0.1/", false), ("ftp://example.com/", false),
    ])
    func credentialsAreForTheExactHost(text: String, areSent: Bool) async throws {
        let interceptor = try interceptor(
            "machine Example.com login ada password x machine ::1 login ada password x machine 10.0.0.1 login ada password x"
                + " machine 127.0.0.9 login ada password x machine localhost login ada password x"
                + " machine 127.0.0.1.evil.test login ada password x")
        guard let url = URL(string: text) else {
            #expect(!areSent)
            return
        }
        let session = Session()
        let request = try await withCheckedThrowingContinuation { continuation in
            interceptor.adapt(URLRequest(url: url), for: session) { continuation.resume(with: $0) }
        }
        #expect(request.value(forHTTPHeaderField: "Authorization") == (areSent ? basic("ada:x") : nil))
    }

    // MARK: Files

    @Test(
        arguments: [
            ("machine h login a password b", "a", "b"),
            ("machine\nh\nlogin\na\npassword\nb\n", "a", "b"),
            ("machine other login x password y machine h password b login a", "a", "b"),
            ("machine h login a password b\nmachine h login c password d", "a", "b"),
            ("machine h login a password b account c # comment\n# machine h login c", "a", "b"),
            ("machine h login a password #b", "a", "#b"),
            ("machine h login \"a b\" password \"c\\\"\\\\\\n\"", "a b", "c\"\\\n"),
            ("macdef init\ncd /\nmachine h login x\n\nmachine h login a password b", "a", "b"),
            ("machine h login a password b\r\nmacdef m\r\nput machine\r\n\r\ndefault login x", "a", "b"),
            ("machine h login a password b macdef unfinished\nx", "a", "b"),
            ("default login a password b", "a", "b"),
            ("default login a password b machine h login c password d", "a", "b"),
            ("machine h login c password d default login a password b", "c", "d"),
            ("machine other login c password d default login a password b", "a", "b"),
            ("machine h user a passwd b", "a", "b"),
            ("machine h:8443 login x machine h:1 login y machine h%1 login z machine h login a password b", "a", "b"),
            ("machine h port 443 login x machine h port 8443 protocol https login a password b", "a", "b"),
            (
                "machine h port imap login x machine h protocol http login y machine h port https login a password b",
                "a", "b"
            ),
            ("machine h port 1 login x default login y", nil, nil),
            ("machine h login a", "a", ""),
            ("machine h password b", nil, nil),
            ("machine other login a password b", nil, nil),
            ("", nil, nil),
            ("# only a comment", nil, nil),
        ] as [(String, String?, String?)])
    func entriesAreRead(text: String, login: String?, password: String?) throws {
        let entry = try NetrcFile(parsing: text).entry(for: RequestTarget(#require(URL(string: "https://h:8443/"))))
        #expect(entry?.login == login && entry?.password == password)
    }

    @Test(arguments: [
        ("machine", 1), ("machine h login", 1), ("machine h\nlogin \"secret", 2), ("machine h\n\nsecret s3cret", 3),
        ("login a password s3cret", 1), ("machine h login a password s3 cret\n", 1),
    ])
    func malformedLinesAreNamed(text: String, line: Int) throws {
        let file = try file(text)
        let error = #expect(throws: NetrcError.self) { try NetrcInterceptor(file: file) }
        guard case .malformed(file, line, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.localizedDescription.contains("cret") == false)
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o666]) func aFileThatOthersCanAccessIsRefused(permissions: Int) throws {
        let file = try file("machine h login a password b", permissions: permissions)
        #expect(throws: NetrcError.accessibleByOthers(file)) { try NetrcInterceptor(file: file) }
    }

    @Test func unusableFilesAreReported() throws {
        let directory = directory.url
        let pipe = directory.appending(path: "pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let large = try file(String(repeating: "#", count: 1 << 20) + "#")
        let binary = try file("")
        try Data([0xFF, 0xFE]).write(to: binary)
        for file in [directory, pipe, large, binary, directory.appending(path: "missing")] {
            let error = #expect(throws: NetrcError.self) { try NetrcInterceptor(file: file) }
            #expect(error?.localizedDescription.hasPrefix("\(file.path) cannot be read: ") == true)
        }
    }

    @Test func aLinkIsFollowed() throws {
        let file = try file("machine h login a password b")
        let link = directory.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        _ = try NetrcInterceptor(file: link)
    }
}
