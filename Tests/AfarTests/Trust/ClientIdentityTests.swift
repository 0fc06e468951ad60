import Afar
import AfarCore
import Foundation
import TestServers
import TestSupport
import Testing

/// Client certificates.
@Suite(.timeLimit(.minutes(2))) struct ClientIdentityTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func server() async throws -> SecureServer {
        try await SecureServer(
            certificates,
            [
                "asking": .init("good", clients: .requested), "requiring": .init("good-rsa", clients: .required),
                "other": .init("good-p384", clients: .requested),
            ])
    }

    private func identity(_ name: String) throws -> ClientIdentity {
        try ClientIdentity(certificateFile: certificates.file("\(name).crt"), keyFile: certificates.file("\(name).key"))
    }

    private func configuration(_ change: (inout SessionConfiguration) throws -> Void) rethrows -> SessionConfiguration {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        try change(&configuration)
        return configuration
    }

    /// Returns the client's name according to the server.
    private func client(in answer: String) -> String {
        answer.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    }

    @Test func everyFormIsShown() async throws {
        let server = try await server()
        let forms: [ClientIdentity] = [
            try identity("client-a"),
            try ClientIdentity(
                certificates: certificates.data("client-a.der"), privateKey: certificates.data("client-a.key.der")),
            try ClientIdentity(
                certificates: certificates.data("client-a.crt"),
                privateKey: certificates.data("client-a.encrypted.key"),
                passphrase: "secret"),
            try ClientIdentity(pkcs12: certificates.data("client-a.p12"), passphrase: "secret"),
        ]
        for identity in forms {
            let session = Session(configuration: configuration { $0.clientIdentity = identity })
            for site in ["asking", "requiring"] {
                let answer = try await session.request(server.url(site)).serializingString().value
                #expect(client(in: answer) == "CN=client-a")
            }
        }
    }

    @Test func withoutAnIdentityARequiringServerRejects() async throws {
        let server = try await server()
        let session = Session(configuration: configuration { _ in })
        let response = await session.request(try server.url("requiring")).serializingString().response
        #expect(response.response?.statusCode == 400)
        #expect(client(in: try await session.request(server.url("asking")).serializingString().value) == "none")
    }

    @Test func anIdentityIsNotPresentedAfterARedirectElsewhere() async throws {
        let server = try await server()
        let session = Session(configuration: try configuration { $0.clientIdentity = try identity("client-a") })
        let elsewhere = [
            try server.url("other"), try server.url("asking", host: "127.0.0.1"),
            try server.url("other", host: "127.0.0.1"),
        ]
        for target in elsewhere {
            let answer = try await session.request(server.url("asking", path: "/to?\(target)")).serializingString()
                .value
            #expect(client(in: answer) == "none", "\(target)")
        }
        // The certificate isn't sent even if another redirect leads back.
        let back = try server.url("other", path: "/to?\(server.url("asking"))")
        let answer = try await session.request(server.url("asking", path: "/to?\(back)")).serializingString().value
        #expect(client(in: answer) == "none")
        let same = try await session.request(server.url("asking", path: "/to?\(server.url("asking"))"))
            .serializingString().value
        #expect(client(in: same) == "CN=client-a")
    }

    /// Starts Apache, which requests a certificate after the handshake when it receives a request for `/private` (RFC
    /// 8446, section 4.6.2). Its responses contain the client's name.
    private func askingLater() async throws -> ServerChild {
        let server = try await ServerChild.apache(
            certificates, modules: ["headers"],
            """
            SSLProtocol -all +TLSv1.3
            SSLCACertificateFile \(certificates.authority.path)
            Header always set X-Client "expr=%{SSL_CLIENT_S_DN}"
            <Location /private>
              SSLVerifyClient require
              SSLVerifyDepth 2
            </Location>
            """)
        for place in ["public", "private"] {
            let folder = server.folder.appending(path: place)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(place.utf8).write(to: folder.appending(path: "page"))
        }
        return server
    }

    @Test(arguments: [false, true]) func aServerCanRequestAnIdentityAfterTheHandshake(_ isEvaluated: Bool) async throws
    {
        let server = try await askingLater()
        let configuration = try configuration { $0.clientIdentity = try identity("client-a") }
        let trust = isEvaluated ? ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator()]) : nil
        let session = Session(configuration: configuration, serverTrustManager: trust)
        for (path, client) in [("public", nil), ("private", "CN=client-a"), ("private", "CN=client-a")] {
            let response = await session.request("https://localhost:\(server.port)/\(path)/page").serializingString()
                .response
            #expect(response.value == path, "\(String(describing: response.error))")
            #expect(response.response?.headers.value(for: "X-Client").flatMap { $0.isEmpty ? nil : $0 } == client)
        }
        let body = String(repeating: "0123456789", count: 100_000)
        let upload = await session.upload(
            Data(body.utf8), to: "https://localhost:\(server.port)/private/page", method: .put
        ).serializingString().response
        #expect(upload.response?.statusCode == 405, "\(String(describing: upload.error))")
    }

    @Test func withoutAnIdentityALateRequestIsRejected() async throws {
        let server = try await askingLater()
        let session = Session(configuration: configuration { _ in })
        let response = await session.request("https://localhost:\(server.port)/private/page").serializingString()
            .response
        #expect(response.response?.statusCode == 403, "\(String(describing: response.error))")
    }

    private func cachingServer(_ control: String) async throws -> SecureServer {
        try await SecureServer(
            certificates, ["asking": .init("good", clients: .requested), "other": .init("good-p384")],
            settings: "add_header Cache-Control \"\(control)\"; add_header ETag '\"1\"';")
    }

    @Test func aCachedResponseIsNotSharedBetweenIdentities() async throws {
        for control in ["max-age=3600", "private, max-age=3600", "public, max-age=3600"] {
            let server = try await cachingServer(control)
            let store = MemoryCacheStore()
            var answers: [String] = []
            for _ in 0..<2 {
                for name in ["client-a", "client-b", nil] {
                    let session = Session(
                        configuration: try configuration {
                            $0.clientIdentity = try name.map(identity)
                            $0.cacheStore = store
                        })
                    answers.append(try await session.request(server.url("asking")).serializingString().value)
                }
            }
            let isPublic = control.hasPrefix("public")
            let clients = isPublic ? ["CN=client-a"] : ["CN=client-a", "CN=client-b", "none"]
            #expect(Set(answers.map(client)) == Set(clients), "\(control)")
            // The last three responses are from the cache.
            #expect(Array(answers[..<3]) == Array(answers[3...]), "\(control)")
        }
    }

    @Test(arguments: ["max-age=3600", "max-age=0, stale-while-revalidate=3600"])
    func aCachedResponseIsNotUsedAfterARedirectElsewhere(_ control: String) async throws {
        /// A store that counts stored responses.
        final class Store: CacheStore {
            let store = MemoryCacheStore()
            let count = Locked(0)
            func responses(for url: String) -> [CachedResponse] { store.responses(for: url) }
            func store(_ response: CachedResponse) {
                store.store(response)
                count.withLock { $0 += 1 }
            }
            func update(_ response: CachedResponse, inPlaceOf old: CachedResponse) {
                store.update(response, inPlaceOf: old)
                count.withLock { $0 += 1 }
            }
            func removeResponses(for url: String) { store.removeResponses(for: url) }
            func removeAll() { store.removeAll() }
        }
        let server = try await cachingServer(control)
        let store = Store()
        let session = Session(
            configuration: try configuration {
                $0.clientIdentity = try identity("client-a")
                $0.cacheStore = store
            })
        let url = try server.url("asking")
        let redirecting = try server.url("other", path: "/to?\(url)")
        for _ in 0..<2 {
            let answer = try await session.request(redirecting).serializingString().value
            #expect(client(in: answer) == "none")
        }
        // A background revalidation doesn't send the certificate, either.
        if control.contains("stale") { try await waitWhile { store.count.withLock({ $0 }) < 2 } }
        #expect(store.responses(for: url.absoluteString).allSatisfy { client(in: $0.text) == "none" })
        #expect(client(in: try await session.request(url).serializingString().value) == "CN=client-a")
    }

    @Test func aHostCanHaveItsOwnIdentity() async throws {
        let server = try await server()
        let session = Session(
            configuration: try configuration {
                $0.clientIdentity = try identity("client-a")
                $0.clientIdentities = ["127.0.0.1": try identity("client-b")]
            })
        let own = try server.url("asking")
        let special = try server.url("asking", host: "127.0.0.1")
        for _ in 0..<2 {
            #expect(client(in: try await session.request(own).serializingString().value) == "CN=client-a")
            #expect(client(in: try await session.request(special).serializingString().value) == "CN=client-b")
        }
        let answer = try await session.request(server.url("asking", path: "/to?\(special)")).serializingString().value
        #expect(client(in: answer) == "CN=client-b")
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func isNotPresentedBeforeTheServerIsTrusted(version: String) async throws {
        let server = try await DemandingServer(certificates, version)
        let key = try #require(Certificate.certificates(contentsOf: certificates.file("good.crt")).first).publicKey
        let other = try PublicKey(pin: Data(count: 32).base64EncodedString())
        let identity = try identity("client-a")
        func session(pinning key: PublicKey) -> Session {
            Session(
                configuration: configuration { $0.clientIdentity = identity },
                serverTrustManager: ServerTrustManager(evaluators: ["localhost": PublicKeysTrustEvaluator(keys: [key])])
            )
        }
        let (refusing, accepting) = (session(pinning: other), session(pinning: key))
        for _ in 0..<3 {
            let refused = await refusing.request(server.url).serializingString().response
            #expect(refused.error?.isServerTrustEvaluationError == true, "\(refused)")
        }
        // The client sends its certificate once per connection, unless the connection resumes a TLS session.
        for count in 1...2 {
            _ = try await accepting.request(server.url).validate().serializingString().value
            #expect((1...count).contains(server.clientsSeen.count))
            #expect(server.clientsSeen.allSatisfy { $0 == "CN = client-a" })
        }
    }

    @Test func aMissingIdentityIsReportedOnlyForATrustedServer() async throws {
        let server = try await DemandingServer(certificates, "-tls1_2")
        let evaluators: [(any ServerTrustEvaluating, Bool)] = [
            (DisabledTrustEvaluator(), false),
            (PublicKeysTrustEvaluator(keys: [try PublicKey(pin: Data(count: 32).base64EncodedString())]), true),
        ]
        for (evaluator, isRefused) in evaluators {
            let session = Session(
                configuration: configuration { _ in },
                serverTrustManager: ServerTrustManager(evaluators: ["localhost": evaluator]))
            let error = await session.request(server.url).serializingString().response.error
            #expect(error != nil)
            #expect(error?.isServerTrustEvaluationError == isRefused, "\(String(describing: error))")
        }
    }

    @Test func aTransportWithoutIdentitySupportRejects() async throws {
        let session = Session(
            configuration: try {
                var configuration = SessionConfiguration.default
                configuration.clientIdentity = try identity("client-a")
                return configuration
            }(), transport: URLSessionTransport())
        let response = await session.request("https://localhost:1/").serializingString().response
        #expect(response.error?.localizedDescription.contains("client identities") == true)
    }

    /// A policy and an identity, with a session that uses them.
    private struct TestClient {
        let session: Session
        let client: String
        let isTrusting: Bool
    }

    private func parties(on transport: HTTPTransport) throws -> [TestClient] {
        let key = try #require(Certificate.certificates(contentsOf: certificates.file("good.crt")).first).publicKey
        let evaluators: [(any ServerTrustEvaluating)?] = [
            nil, DefaultTrustEvaluator(), PublicKeysTrustEvaluator(keys: [key]), DisabledTrustEvaluator(),
            PublicKeysTrustEvaluator(keys: [try PublicKey(pin: Data(count: 32).base64EncodedString())]),
        ]
        return try evaluators.enumerated().flatMap { index, evaluator in
            try [nil, "client-a", "client-b"].map { name in
                let manager = evaluator.map { ServerTrustManager(evaluators: ["localhost": $0]) }
                let session = Session(
                    configuration: try configuration { $0.clientIdentity = try name.map(identity) },
                    serverTrustManager: manager, transport: transport)
                return TestClient(
                    session: session, client: name.map { "CN=\($0)" } ?? "none",
                    isTrusting: index < evaluators.count - 1)
            }
        }
    }

    @Test func connectionsAreNotSharedAcrossPoliciesAndIdentities() async throws {
        let server = try await server()
        let url = try server.url("asking")
        var transportConfiguration = HTTPTransport.Configuration()
        transportConfiguration.certificateBundle = certificates.authority
        transportConfiguration.maximumConnectionsPerHost = 4
        let parties = try parties(on: HTTPTransport(configuration: transportConfiguration))
        let users = Locked<[String: Set<Int>]>([:])
        let counts = Locked((right: 0, wrong: 0))
        // With a sanitizer, there is time for fewer requests.
        let end = ContinuousClock.now + .seconds(90)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    for round in 0..<625 where ContinuousClock.now < end {
                        let index = (task * 7 + round) % parties.count
                        let party = parties[index]
                        let response = await party.session.request(url).serializingString().response
                        let words = response.value?.split(separator: " ").map(String.init) ?? []
                        let isRight =
                            party.isTrusting
                            ? words.count == 3 && words[1] == party.client
                            : response.error?.isServerTrustEvaluationError == true
                        counts.withLock { if isRight { $0.right += 1 } else { $0.wrong += 1 } }
                        if let connection = words.first {
                            users.withLock { _ = $0[connection, default: []].insert(index) }
                        }
                    }
                }
            }
        }
        #expect(counts.withLock { $0.wrong == 0 && $0.right > 1_000 }, "\(counts.withLock { $0 })")
        #expect(users.withLock { users in users.values.allSatisfy { $0.count == 1 } && users.count < 1_000 })
    }
}

extension CachedResponse {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
