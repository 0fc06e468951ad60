import Afar
import AfarCore
import AfarTestServer
import Foundation
import TestServers
import Testing

/// Cookie files and HSTS files that are shared with curl.
@Suite(.timeLimit(.minutes(1))) struct CurlCookieFileTests {
    private let scratch = ScratchDirectory()
    private var file: URL { scratch.url.appending(path: "cookies.txt") }

    private static func server() async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/set") { _ in
            ServerResponse.text("set").adding("Set-Cookie", "plain=1; Path=/")
                .adding("Set-Cookie", "dated=with spaces; Path=/get; Max-Age=3600; HttpOnly")
                .adding("Set-Cookie", "empty=; Path=/")
                .adding("Set-Cookie", "wide=2; Domain=app.localhost; Path=/; Max-Age=3600")
        }
        server.route("/get") { .text($0.headers.values(of: "Cookie").joined(separator: " | ")) }
        return server
    }

    /// Returns curl's output.
    private func curl(_ arguments: String...) async throws -> String {
        let output = scratch.url.appending(path: UUID().uuidString)
        let process = try ChildProcess(["curl", "-sS"] + arguments, output: output)
        // The call blocks, and the server's tasks need the cooperative pool.
        let isGood = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: process.wait()) }
        }
        #expect(isGood)
        return try String(contentsOf: output, encoding: .utf8)
    }

    private func url(_ server: TestServer, _ host: String, _ path: String) -> String {
        "http://\(host):\(server.url.port ?? 0)\(path)"
    }

    private func session() throws -> (Session, FileCookieStore) {
        let store = try FileCookieStore(file: file)
        return (TransportKind.platform.session { $0.cookieStore = store }, store)
    }

    private static let all: Set = ["dated=with spaces", "plain=1", "empty=", "wide=2"]

    @Test func curlReadsAStoresFile() async throws {
        let server = try await Self.server()
        let (session, store) = try session()
        _ = try await session.request(url(server, "app.localhost", "/set")).serializingString().value
        try store.flush()
        let seen = try await curl("-b", file.path, url(server, "app.localhost", "/get"))
        #expect(Set(seen.components(separatedBy: "; ")) == Self.all)
        #expect(try await curl("-b", file.path, url(server, "x.app.localhost", "/get")) == "wide=2")
        await server.stop()
    }

    @Test func aStoreReadsCurlsFile() async throws {
        let server = try await Self.server()
        _ = try await curl("-c", file.path, url(server, "app.localhost", "/set"))
        let (session, store) = try session()
        #expect(Set(store.all.map(\.name)) == ["plain", "dated", "empty", "wide"])
        let dated = try #require(store.all.first { $0.name == "dated" })
        #expect(dated.isHTTPOnly && dated.isHostOnly && dated.path == "/get" && dated.expires != nil)
        let seen = try await session.request(url(server, "app.localhost", "/get")).serializingString().value
        #expect(Set(seen.components(separatedBy: "; ")) == Self.all)
        await server.stop()
    }

    @Test func curlAndAStoreAlternate() async throws {
        let server = try await Self.server()
        let (session, store) = try session()
        store.store(try #require(Cookie(name: "own", value: "1", domain: "app.localhost", expires: Date() + 999)))
        try store.flush()
        _ = try await curl("-b", file.path, "-c", file.path, url(server, "app.localhost", "/set"))
        store.store(try #require(Cookie(name: "late", value: "1", domain: "app.localhost", expires: Date() + 999)))
        try store.flush()
        let seen = try await session.request(url(server, "app.localhost", "/get")).serializingString().value
        #expect(Set(seen.components(separatedBy: "; ")) == Self.all.union(["own=1", "late=1"]))
        #expect(try await curl("-b", file.path, url(server, "x.app.localhost", "/get")) == "wide=2")
        await server.stop()
    }

    @Test func curlReadsAStoresHSTSHosts() throws {
        let store = try FileHSTSStore(file: file)
        store.store(try #require(HSTSHost(name: "app.localhost", includesSubdomains: true, expires: Date() + 9_999)))
        try store.flush()
        let port = try ClosedPort()
        let output = scratch.url.appending(path: "output")
        _ = try ChildProcess(
            ["curl", "-sS", "-v", "--hsts", file.path, "http://x.app.localhost:\(port.number)/"], output: output
        ).wait()
        let text = try String(contentsOf: output, encoding: .utf8)
        #expect(text.contains("HTTPS") || text.contains("https"), "\(text)")
    }
}
