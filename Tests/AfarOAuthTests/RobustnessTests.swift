import Afar
import AfarTestServer
import Foundation
import TestServers
import Testing

@testable import AfarOAuth

/// Many operations at the same time, canceled at any point.
@Suite(.timeLimit(.minutes(5)))
struct RobustnessTests {
    private static var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    @Test func canceledWaitsForALockReleaseIt() async throws {
        let lock = AsyncLock()
        let (count, inside) = (Locked(0), Locked(0))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<2_000 {
                let task = Task {
                    guard (try? await lock.acquire()) != nil else { return }
                    #expect(
                        inside.withLock { inside in
                            inside += 1; return inside
                        } == 1)
                    await Task.yield()
                    inside.withLock { $0 -= 1 }
                    count.withLock { $0 += 1 }
                    lock.release()
                }
                group.addTask { await task.value }
                if index % 3 == 0 { group.addTask { task.cancel() } }
            }
        }
        try await lock.acquire()
        #expect(count.withLock { $0 } >= 1_333)
    }

    @Test func oneKeySignsInSeveralThreads() async throws {
        let key = try SignatureKey.generate(.ecdsaP256SHA256)
        let signatures = await withTaskGroup(of: [Data].self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<500).compactMap { try? key.signature(for: Data("\($0)".utf8)) } }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(signatures.count == 4_000)
        #expect(signatures.allSatisfy { $0.count == 64 })
        #expect(Set(signatures).count == 4_000)
    }

    @Test func requestsThatAreCanceledAtAnyPointEnd() async throws {
        let server = try await TestServer.start()
        server.route("/token") { _ in
            try .json(["access_token": UUID().uuidString, "token_type": "Bearer", "refresh_token": "r"])
        }
        let count = Locked(0)
        server.route("/resource") { _ in
            let isRefused = count.withLock { count in
                count += 1
                return count % 20 == 0
            }
            return isRefused ? ServerResponse(status: 401) : .text("ok")
        }
        let clock = SkippingClock()
        let client = OAuthClient(
            id: "a", server: OAuthServer(tokenEndpoint: server.url("/token")), session: clock.session)
        let store = OAuthMemoryTokenStore(OAuthToken(accessToken: "a", refreshToken: "r"))
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [server.url("/")])
        let session = Session(interceptor: interceptor)
        let requests = (0..<300).map { _ in session.request(server.url("/resource")).validate() }
        let ended = await withTaskGroup(of: Bool.self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask {
                    let task = request.serializingString()
                    if index % 2 == 0 {
                        Task {
                            for _ in 0..<(index % 17) { await Task.yield() }
                            request.cancel()
                        }
                    }
                    let response = await task.response
                    return response.value == "ok" || response.error != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(ended == 300)
        #expect(try await session.request(server.url("/resource")).serializingString().value.count <= 2)
        await server.stop()
    }

    @Test func listenersReleaseTheirDescriptors() async throws {
        let endpoint = try #require(URL(string: "https://as.example/token"))
        let page = try #require(URL(string: "https://as.example/authorize"))
        let client = OAuthClient(
            id: "a", server: OAuthServer(tokenEndpoint: endpoint, authorizationEndpoint: page), session: Session())
        let before = Self.descriptorCount
        for index in 0..<300 {
            let listener = try OAuthLoopbackListener()
            guard index % 3 > 0 else { continue }
            let authorization = try await client.authorization(redirectURI: listener.redirectURI)
            let task = Task {
                try await authorization.token(from: listener, timeout: .milliseconds(index % 3 == 1 ? 1 : 60_000))
            }
            for _ in 0..<(index % 7) { await Task.yield() }
            if index % 3 == 2 { task.cancel() }
            await #expect(throws: OAuthError.self) { _ = try await task.value }
        }
        // Other tests of this process open descriptors, too.
        #expect(Self.descriptorCount < before + 300)
    }

    @Test(.enabled(if: TinyDisk.isAvailable)) func aFullDiskLeavesTheToken() async throws {
        let disk = try TinyDisk(bytes: 400_000)
        let file = disk.url.appending(path: "token")
        let store = OAuthFileTokenStore(file)
        let token = OAuthToken(accessToken: "a")
        try await store.update { _ in token }
        await #expect(throws: OAuthError.self) {
            try await store.update { _ in OAuthToken(accessToken: String(repeating: "b", count: 900_000)) }
        }
        #expect(try store.load() == token)
        try await store.update { _ in OAuthToken(accessToken: "c") }
        #expect(try store.load()?.accessToken == "c")
        withExtendedLifetime(disk) {}
    }
}
