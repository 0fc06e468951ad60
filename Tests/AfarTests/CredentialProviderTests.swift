import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A session's credentials with the real transports.
struct CredentialProviderTests {
    private struct Provider: CredentialProvider {
        let asked = Locked<[String]>([])
        let answer: @Sendable (URLProtectionSpace) throws -> URLCredential?

        func credential(for space: URLProtectionSpace) async throws -> URLCredential? {
            asked.withLock { $0.append("\(space.port) \(space.realm ?? "") \(space.authenticationMethod)") }
            return try answer(space)
        }
    }

    private struct LockedVault: Error {}

    private static let path = "/basic-auth/ada/lovelace"
    private static let ada = URLCredential(user: "ada", password: "lovelace", persistence: .none)

    private func session(_ kind: TransportKind, _ provider: any CredentialProvider) -> Session {
        kind.session { $0.credentialProvider = provider }
    }

    @Test(arguments: TransportKind.allCases)
    func aProvidersCredentialAnswersOnlyChallenges(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let provider = Provider { _ in Self.ada }
        let session = session(kind, provider)
        _ = try await session.request(server.url("/get")).validate().serializingData().value
        #expect(provider.asked.withLock { $0 }.isEmpty)
        #expect(server.lastRequest(path: "/get")?.headers["Authorization"] == nil)
        let request = session.request(server.url(Self.path)).validate()
        _ = try await request.serializingData().value
        let port = try #require(server.url.port)
        #expect(provider.asked.withLock { $0 } == ["\(port) Afar \(NSURLAuthenticationMethodHTTPBasic)"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aRejectedCredentialIsNotRequestedAgain(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let provider = Provider { _ in URLCredential(user: "ada", password: "wrong", persistence: .none) }
        let session = session(kind, provider)
        let request = session.request(server.url(Self.path))
        #expect(try await request.serializingString().value == "not authorized\n")
        #expect(request.response?.statusCode == 401)
        #expect(server.requestCount == 2)
        #expect(provider.asked.withLock { $0.count } == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aProviderIsCalledForARedirectsOrigin(kind: TransportKind) async throws {
        let (first, second) = (try await TestServer.start(), try await TestServer.start())
        let target = second.url(Self.path)
        let provider = Provider { space in space.port == target.port ? Self.ada : nil }
        let session = session(kind, provider)
        let request = session.request(first.url("/redirect-to"), parameters: ["url": target.absoluteString])
            .authenticate(username: "own", password: "secret")
        _ = try await request.validate().serializingData().value
        let given = second.lastRequest(path: Self.path)?.headers["Authorization"]
        #expect(given == "Basic " + Data("ada:lovelace".utf8).base64EncodedString())
        // This provider has a credential only for the first origin.
        let silent = kind.session { $0.credentialProvider = Provider { $0.port == first.url.port ? Self.ada : nil } }
        let refused = silent.request(first.url("/redirect-to"), parameters: ["url": target.absoluteString])
        _ = await refused.serializingData().response
        #expect(refused.response?.statusCode == 401)
        #expect(second.lastRequest(path: Self.path)?.headers["Authorization"] == nil)
        await first.stop()
        await second.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aProvidersErrorFailsTheRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = session(kind, Provider { _ in throw LockedVault() })
        let response = await session.request(server.url(Self.path)).serializingData().response
        let error = try #require(response.error?.underlyingError as? URLError)
        #expect(error.code == .userAuthenticationRequired)
        let cause = error.userInfo[NSUnderlyingErrorKey] as? TransportError
        #expect(cause?.underlying is LockedVault)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func foundationsStorageIsUsed(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "127.0.0.1", port: try #require(server.url.port), protocol: "http", realm: "Afar",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        storage.setDefaultCredential(
            URLCredential(user: "ada", password: "lovelace", persistence: .forSession), for: space)
        let foundations = URLSessionConfiguration.default
        foundations.urlCredentialStorage = storage
        let configuration = SessionConfiguration(foundations)
        let session = Session(configuration: configuration, transport: kind.make(configuration))
        #expect(session.sessionConfiguration.urlCredentialStorage === storage)
        let request = session.request(server.url(Self.path)).validate()
        _ = try await request.serializingData().value
        #expect(request.response?.statusCode == 200)
        foundations.urlCredentialStorage = nil
        #expect(SessionConfiguration(foundations).credentialProvider == nil)
        await server.stop()
    }
}
