import Afar
import AfarCore
import Foundation
import TestServers
import Testing

/// HSTS with libcurl.
@Suite(.timeLimit(.minutes(1))) struct HSTSTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func plain(_ url: URL) throws -> URL {
        try #require(URL(string: url.absoluteString.replacing("https:", with: "http:")))
    }

    private func session(
        _ store: (any HSTSStore)?, trusts: Bool = true, manager: ServerTrustManager? = nil
    ) -> Session {
        var configuration = SessionConfiguration.default
        if trusts { configuration.certificateBundle = certificates.authority }
        configuration.hstsStore = store
        return Session(configuration: configuration, serverTrustManager: manager)
    }

    private func server(age: Int = 100) async throws -> SecureServer {
        try await SecureServer(
            certificates, ["good": .init("good")],
            settings: #"add_header Strict-Transport-Security "max-age=\#(age)" always;"#)
    }

    @Test func knownHostsUseHTTPS() async throws {
        let server = try await server()
        let url = try server.url("good")
        let store = MemoryHSTSStore()
        let session = session(store)
        // A TLS server responds to plain HTTP with 400.
        #expect(await session.request(try plain(url)).serializingData().response.response?.statusCode == 400)
        #expect(store.all.isEmpty)
        #expect(await session.request(url).serializingData().response.response?.statusCode == 200)
        #expect(store.all.map(\.name) == ["localhost"])
        let response = await session.request(try plain(url)).serializingData().response
        #expect(response.response?.statusCode == 200)
        #expect(response.response?.url == url)
    }

    @Test func redirectsToKnownHostsUseHTTPS() async throws {
        let server = try await server()
        let session = session(MemoryHSTSStore())
        let target = try plain(try server.url("good", path: "/end"))
        let response = await session.request(try server.url("good", path: "/to?\(target.absoluteString)"))
            .serializingData().response
        #expect(response.response?.url == (try server.url("good", path: "/end")))
        #expect(response.error == nil)
    }

    @Test func withoutAStoreTheFieldIsIgnored() async throws {
        let server = try await server()
        let session = session(nil)
        let url = try server.url("good")
        _ = await session.request(url).serializingData().response
        #expect(await session.request(try plain(url)).serializingData().response.response?.statusCode == 400)
    }

    @Test func anUnverifiedHostStoresNothing() async throws {
        let server = try await server()
        let store = MemoryHSTSStore()
        let manager = ServerTrustManager(evaluators: ["localhost": DisabledTrustEvaluator()])
        let session = session(store, trusts: false, manager: manager)
        #expect(await session.request(try server.url("good")).serializingData().response.response?.statusCode == 200)
        #expect(store.all.isEmpty)
    }

    @Test func anAgeOfZeroRemovesTheHost() async throws {
        let server = try await server(age: 0)
        let store = MemoryHSTSStore()
        store.store(try #require(HSTSHost(name: "localhost")))
        let session = session(store)
        _ = await session.request(try plain(try server.url("good"))).serializingData().response
        #expect(store.all.isEmpty)
    }
}
