import Afar
import AfarCore
import Foundation
import TestServers
import TestSupport
import Testing

/// Server trust with real TLS connections. Each server counts the request bytes that it receives.
@Suite(.timeLimit(.minutes(2))) struct ServerTrustTests {
    /// A server certificate that must be rejected.
    struct BadCertificate: Sendable, CustomTestStringConvertible {
        let site: SecureServer.Site
        let name: String
        /// The error of a validating evaluator.
        let code: ServerTrustError.Code
        /// The code of the error without an evaluator, or `nil` if libcurl accepts the certificate.
        let urlCode: URLError.Code?
        var host = "localhost"

        var testDescription: String { name }

        init(
            _ name: String, _ code: ServerTrustError.Code, _ urlCode: URLError.Code?, at host: String = "localhost",
            stapling response: String? = nil
        ) {
            site = .init(name, stapling: response)
            (self.name, self.code, self.urlCode, self.host) = (name, code, urlCode, host)
        }
    }

    static let bad: [BadCertificate] = [
        BadCertificate("expired", .expired, .serverCertificateHasBadDate),
        BadCertificate("future", .notYetValid, .serverCertificateNotYetValid),
        BadCertificate("expired-intermediate", .expired, .serverCertificateHasBadDate),
        BadCertificate("wrong-host", .hostMismatch, .serverCertificateUntrusted),
        BadCertificate("wildcard-bare", .hostMismatch, .serverCertificateUntrusted),
        BadCertificate("wildcard-top", .hostMismatch, .serverCertificateUntrusted, at: "a.localhost"),
        BadCertificate("wildcard-deep", .hostMismatch, .serverCertificateUntrusted, at: "x.a.localhost"),
        BadCertificate("wildcard-middle", .hostMismatch, .serverCertificateUntrusted, at: "a.b.localhost"),
        BadCertificate("wildcard-partial", .hostMismatch, .serverCertificateUntrusted, at: "ab.server.localhost"),
        BadCertificate("wildcard-address", .hostMismatch, .serverCertificateUntrusted, at: "127.0.0.1"),
        BadCertificate("nul-in-name", .hostMismatch, .serverCertificateUntrusted),
        BadCertificate("no-names", .hostMismatch, .serverCertificateUntrusted),
        BadCertificate("only-common-name", .hostMismatch, .serverCertificateUntrusted),
        BadCertificate("only-email", .hostMismatch, .serverCertificateUntrusted),
        BadCertificate("name-constraints", .nameNotPermitted, .serverCertificateUntrusted),
        BadCertificate(
            "wildcard-below-excluded", .nameNotPermitted, .serverCertificateUntrusted, at: "a.server.localhost"),
        BadCertificate(
            "wildcard-above-excluded", .nameNotPermitted, .serverCertificateUntrusted, at: "a.server.localhost"),
        BadCertificate("constraints-garbled", .unknownAuthority, .serverCertificateHasUnknownRoot),
        BadCertificate("constraints-short", .nameNotPermitted, .serverCertificateUntrusted),
        BadCertificate("constraints-mask", .nameNotPermitted, .serverCertificateUntrusted),
        BadCertificate("constraints-label", .nameNotPermitted, .serverCertificateUntrusted, at: "127.0.0.1"),
        BadCertificate("untrusted-root", .unknownAuthority, .serverCertificateHasUnknownRoot),
        BadCertificate("missing-intermediate", .unknownAuthority, .serverCertificateHasUnknownRoot),
        BadCertificate("self-signed", .selfSigned, .serverCertificateHasUnknownRoot),
        BadCertificate("stowaway", .unknownAuthority, .serverCertificateHasUnknownRoot),
        BadCertificate("issuer-without-right", .wrongUsage, .serverCertificateUntrusted),
        BadCertificate("issuer-not-for-signing", .wrongUsage, .serverCertificateUntrusted),
        BadCertificate("path-too-long", .wrongUsage, .serverCertificateUntrusted),
        BadCertificate("weak-key", .weakKey, .serverCertificateUntrusted),
        BadCertificate("weak-digest", .weakKey, .serverCertificateUntrusted),
        BadCertificate("for-clients", .wrongUsage, .serverCertificateUntrusted),
        BadCertificate("for-code", .wrongUsage, .serverCertificateUntrusted),
        BadCertificate("for-nothing", .wrongUsage, .serverCertificateUntrusted),
        BadCertificate("for-signing", .wrongUsage, .serverCertificateUntrusted),
        BadCertificate("authority-as-server", .wrongUsage, .serverCertificateUntrusted),
        BadCertificate("critical-extension", .invalid, .serverCertificateUntrusted),
        BadCertificate("broken-signature", .invalidSignature, .serverCertificateUntrusted),
    ]

    static let good = [
        "good", "good-rsa", "good-p384", "good-wildcard", "good-chain", "good-second-path", "wildcard-beside-excluded",
    ]
    static let stapling = [
        "responses-good", "responses-good-list-not", "responses-revoked", "responses-other", "responses-foreign",
    ]

    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    /// Starts a server with the given sites and a valid one.
    private func server(_ sites: [String: SecureServer.Site] = [:]) async throws -> SecureServer {
        try await SecureServer(certificates, sites.merging(["good": .init("good")]) { own, _ in own })
    }

    private var configuration: SessionConfiguration {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        return configuration
    }

    /// The transport for the current test run: the default one, or libcurl's.
    private var transport: any Transport {
        switch TestedTransport.current {
        case .http: TransportKind.platform.make(configuration)
        case .curl: CurlTransport(configuration: .init(configuration))
        }
    }

    private func session(
        _ evaluator: (any ServerTrustEvaluating)?, hosts: [String] = ["localhost"], transport: (any Transport)? = nil,
        version: ExchangeOptions.HTTPVersion = .automatic
    ) -> Session {
        var configuration = configuration
        configuration.httpVersion = version
        let manager = evaluator.map { evaluator in
            ServerTrustManager(evaluators: Dictionary(hosts.map { ($0, evaluator) }) { first, _ in first })
        }
        return Session(
            configuration: configuration, serverTrustManager: manager,
            transport: transport ?? self.transport)
    }

    private func get(_ url: URL, by session: Session) async -> AFDataResponse<String> {
        defer { withExtendedLifetime(session) {} }
        return await session.request(url).validate().serializingString().response
    }

    // MARK: Validation

    @Test(OverEachTransport(), arguments: bad) func aBadCertificateIsRejectedByAnEvaluator(bad: BadCertificate)
        async throws
    {
        let server = try await server(["bad": bad.site])
        let response = await get(
            try server.url("bad", host: bad.host), by: session(DefaultTrustEvaluator(), hosts: [bad.host, "localhost"]))
        let error = try #require(response.error)
        guard case .serverTrustEvaluationFailed(let reason) = error else {
            Issue.record("\(error)")
            return
        }
        switch reason {
        case .hostValidationFailed(let output):
            #expect(bad.code == .hostMismatch && output.error.code == bad.code && output.host == bad.host)
        case .defaultEvaluationFailed(let output):
            #expect(bad.code != .hostMismatch && output.error.code == bad.code, "\(output.error)")
            #expect(!output.trust.certificates.isEmpty)
        default: Issue.record("\(reason)")
        }
        #expect(response.response == nil && response.data == nil)
        #expect(response.metrics?.transactionMetrics.first?.remoteAddress != nil)
        #expect(try await server.requestBytes(to: "bad") == 0)
    }

    @Test(OverEachTransport(), arguments: bad) func aBadCertificateIsRejectedByTheTransport(bad: BadCertificate)
        async throws
    {
        let server = try await server(["bad": bad.site])
        let response = await get(try server.url("bad", host: bad.host), by: session(nil))
        let error = try #require(response.error?.underlyingError as? URLError)
        #expect(error.code == bad.urlCode, "\(error)")
        #expect(try await server.requestBytes(to: "bad") == 0)
    }

    /// A raw connection and a WebSocket.
    @Test(arguments: bad, [true, false])
    func aBadCertificateIsRejectedByOtherConnections(bad: BadCertificate, isEvaluated: Bool) async throws {
        let server = try await server(["bad": bad.site])
        let url = try server.url("bad", host: bad.host)
        let session = session(isEvaluated ? DefaultTrustEvaluator() : nil, hosts: [bad.host])
        let socket = session.webSocketRequest(to: url.absoluteString.replacing("https:", with: "wss:"))
        let stream = session.stream(withHostName: bad.host, port: try #require(url.port))
        await #expect(throws: (any Error).self) { try await stream.startSecureConnection() }
        for await event in socket.webSocketTask().streamingMessageEvents() {
            guard case .completed(let completion) = event.kind else { continue }
            #expect(completion.error != nil)
        }
        #expect(try await server.requestBytes(to: "bad") == 0)
    }

    @Test(OverEachTransport(), arguments: good, [true, false]) func aGoodCertificateIsTrusted(
        name: String, isEvaluated: Bool
    ) async throws {
        let server = try await server(["site": .init(name)])
        let isWildcard = name.contains("wildcard")
        let host = isWildcard ? "a.server.localhost" : "localhost"
        let session = session(isEvaluated ? DefaultTrustEvaluator() : nil, hosts: [host])
        for _ in 0..<3 {
            let response = await get(try server.url("site", host: host), by: session)
            #expect(response.value?.hasSuffix("none .\n") == true, "\(response)")
        }
        let address = isWildcard ? "localhost" : "127.0.0.1"
        let other = self.session(isEvaluated ? DefaultTrustEvaluator() : nil, hosts: [address])
        let response = await get(try server.url("site", host: address), by: other)
        #expect((response.error == nil) == !isWildcard, "\(response)")
    }

    /// `openssl req -x509` creates a certificate authority.
    @Test(arguments: [true, false]) func aTrustedCertificateCanBeAnAuthority(isEvaluated: Bool) async throws {
        let server = try await server(["own": .init("self-signed")])
        var configuration = configuration
        configuration.certificateBundle = certificates.file("self-signed.pem")
        let manager = ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator()])
        let session = Session(configuration: configuration, serverTrustManager: isEvaluated ? manager : nil)
        #expect(await get(try server.url("own"), by: session).error == nil)
    }

    @Test(arguments: [true, false]) func strictValidationIsAnOption(isEvaluated: Bool) async throws {
        // The issuer has no key identifier.
        let server = try await server(["strict": .init("lenient")])
        for isStrict in [true, false] {
            var configuration = configuration
            configuration.validatesCertificatesStrictly = isStrict
            let manager = ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator()])
            let session = Session(configuration: configuration, serverTrustManager: isEvaluated ? manager : nil)
            #expect((await get(try server.url("strict"), by: session).error != nil) == isStrict)
        }
    }

    // MARK: Pins

    private func certificate(_ name: String) throws -> Certificate {
        try #require(try Certificate.certificates(contentsOf: certificates.file(name)).first)
    }

    @Test func pinsAddToTheValidation() async throws {
        let server = try await server(["expired": .init("expired"), "chain": .init("good-chain")])
        let own = try certificate("good.crt")
        let root = try certificate("root.crt")
        let accepted: [(String, any ServerTrustEvaluating)] = [
            ("good", PinnedCertificatesTrustEvaluator(certificates: [own])),
            ("good", .pinnedCertificates(certificates: [try certificate("expired.crt"), root])),
            ("good", .publicKeys(keys: [own.publicKey])),
            ("good", PublicKeysTrustEvaluator(keys: [try PublicKey(pin: own.publicKey.pin)])),
            ("good", .pinnedCertificates(certificates: [root], acceptSelfSignedCertificates: true)),
            ("good", .pinnedCertificates(certificates: [own], acceptSelfSignedCertificates: true)),
            ("chain", PublicKeysTrustEvaluator(keys: [try certificate("intermediate.crt").publicKey])),
            (
                "expired",
                .pinnedCertificates(
                    certificates: [try certificate("expired.crt")], performDefaultValidation: false,
                    validateHost: false)
            ),
        ]
        for (site, evaluator) in accepted {
            let response = await get(try server.url(site), by: session(evaluator))
            #expect(response.error == nil, "\(site)")
        }
    }

    @Test func aMismatchedPinIsRejected() async throws {
        // The site "stowaway" also sends the pinned certificate, which isn't part of its chain.
        let server = try await server([
            "bad": .init("good-p384"), "stowaway": .init("stowaway"), "leaf": .init("issuer-without-right"),
        ])
        let pinned = try certificate("good.crt")
        // A server certificate without the right to sign.
        let signer = try certificate("no-authority.crt").publicKey
        let forged = await get(
            try server.url("leaf"),
            by: session(
                PublicKeysTrustEvaluator(keys: [signer], performDefaultValidation: false, validateHost: false)))
        guard case .serverTrustEvaluationFailed(.publicKeyPinningFailed(_, _, _, let keys)) = forged.error else {
            throw try #require(forged.error)
        }
        #expect(keys.count == 1 && !keys.contains(signer))
        for performs in [true, false] {
            let response = await get(
                try server.url("bad"),
                by: session(
                    .pinnedCertificates(
                        certificates: [pinned], performDefaultValidation: performs, validateHost: performs)))
            guard
                case .serverTrustEvaluationFailed(
                    .certificatePinningFailed(let host, let trust, let pins, let presented)) = response.error
            else { throw try #require(response.error) }
            #expect(host == "localhost" && pins == [pinned] && !presented.contains(pinned))
            #expect(trust.certificates.first?.subject == "CN=good-p384")
        }
        for (site, performs) in [("bad", true), ("bad", false), ("stowaway", false)] {
            let evaluator = PublicKeysTrustEvaluator(
                keys: [pinned.publicKey], performDefaultValidation: performs, validateHost: performs)
            let response = await get(try server.url(site), by: session(evaluator))
            guard case .serverTrustEvaluationFailed(.publicKeyPinningFailed(_, _, _, let keys)) = response.error else {
                throw try #require(response.error)
            }
            #expect(!keys.contains(pinned.publicKey))
        }
        for site in ["bad", "stowaway"] { #expect(try await server.requestBytes(to: site) == 0) }
    }

    @Test func withoutPinsNoServerIsTrusted() async throws {
        let server = try await server()
        let empty: [(any ServerTrustEvaluating, (AFError.ServerTrustFailureReason) -> Bool)] = [
            (.pinnedCertificates, { if case .noCertificatesFound = $0 { true } else { false } }),
            (.publicKeys, { if case .noPublicKeysFound = $0 { true } else { false } }),
            (.composite(evaluators: []), { if case .trustEvaluationFailed = $0 { true } else { false } }),
        ]
        for (evaluator, isExpected) in empty {
            let error = await get(try server.url("good"), by: session(evaluator)).error
            guard case .serverTrustEvaluationFailed(let reason) = error else { throw try #require(error) }
            #expect(isExpected(reason), "\(reason)")
        }
        #expect(try await server.requestBytes(to: "good") == 0)
    }

    // MARK: Revocation

    @Test func revokedAndUnknownCertificatesAreRejected() async throws {
        var sites = Dictionary(
            uniqueKeysWithValues: Self.stapling.map { ($0, SecureServer.Site($0, stapling: "\($0).ocsp")) })
        sites["revoked"] = .init("revoked")
        sites["chain"] = .init("good-chain")
        let server = try await server(sites)
        let list = try certificates.data("root.crl")
        let old = try certificates.data("old.crl")
        let cases: [(String, RevocationTrustEvaluator, ServerTrustError.Code?)] = [
            ("responses-good", .revocationChecking, nil),
            ("responses-good", RevocationTrustEvaluator(options: .ocsp), nil),
            ("responses-good", RevocationTrustEvaluator(options: .crl), .revocationUnknown),
            ("responses-good", RevocationTrustEvaluator(options: .crl, revocationLists: [list]), nil),
            ("responses-good", RevocationTrustEvaluator(revocationLists: [list]), nil),
            ("responses-good", RevocationTrustEvaluator(revocationLists: [old]), .revocationUnknown),
            ("responses-good-list-not", .revocationChecking, nil),
            ("responses-good-list-not", RevocationTrustEvaluator(options: .ocsp, revocationLists: [list]), nil),
            ("responses-good-list-not", RevocationTrustEvaluator(revocationLists: [list]), .revoked),
            (
                "responses-good-list-not",
                RevocationTrustEvaluator(options: [.any, .preferCRL], revocationLists: [list]), .revoked
            ),
            ("responses-revoked", .revocationChecking, .revoked),
            (
                "responses-revoked", RevocationTrustEvaluator(options: [.any, .preferCRL], revocationLists: [list]),
                .revoked
            ),
            ("responses-other", .revocationChecking, .revocationUnknown),
            ("responses-foreign", .revocationChecking, .revocationUnknown),
            ("good", .revocationChecking, .revocationUnknown),
            ("good", RevocationTrustEvaluator(revocationLists: [list]), nil),
            ("good", RevocationTrustEvaluator(options: .ocsp, revocationLists: [list]), .revocationUnknown),
            ("good", RevocationTrustEvaluator(revocationLists: [old]), .revocationUnknown),
            ("good", RevocationTrustEvaluator(revocationLists: [Data("no list".utf8)]), .revocationUnknown),
            // The intermediate authority has no revocation list.
            ("chain", RevocationTrustEvaluator(revocationLists: [list]), .revocationUnknown),
            ("revoked", RevocationTrustEvaluator(revocationLists: [list]), .revoked),
            ("revoked", RevocationTrustEvaluator(performDefaultValidation: false, revocationLists: [list]), .revoked),
        ]
        for (index, (site, evaluator, code)) in cases.enumerated() {
            let error = await get(try server.url(site), by: session(evaluator)).error
            if code == nil, error == nil { continue }
            guard case .serverTrustEvaluationFailed(.revocationCheckFailed(let output, _)) = error else {
                Issue.record("\(index) \(site): \(String(describing: error))")
                continue
            }
            #expect(output.error.code == code, "\(index) \(site): \(output.error)")
        }
        for site in ["revoked", "chain", "responses-revoked"] { #expect(try await server.requestBytes(to: site) == 0) }
    }

    /// The chain of a pinned key is the one whose revocation is checked, although another chain would be valid, too.
    @Test func pinsAndListsApplyToTheSameChain() async throws {
        struct Case: Decodable {
            let name: String
            let isValid: Bool
            let store: String
            let presented: [Data]
            let lists: [Data]
        }
        let folder = try TestCertificates.folder(madeBy: "CertificatePaths/make")
        let cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: folder.appending(path: "cases.json")))
        var count = 0
        for entry in cases where entry.isValid && entry.name.hasPrefix("revoked") {
            let trust = ServerTrust(
                host: "localhost", certificates: try entry.presented.map { try Certificate(derEncoded: $0) },
                authorities: CertificateAuthorities(file: folder.appending(path: entry.store)))
            let revocation = RevocationTrustEvaluator(validateHost: false, revocationLists: entry.lists)
            try revocation.evaluate(trust, forHost: "localhost")
            let (chain, current) = (try trust.validate(), try trust.validateRevocation(chainFor: entry.lists))
            for isValidated in [true, false] {
                func composite(_ certificates: [Certificate]) -> CompositeTrustEvaluator {
                    let pins = PinnedCertificatesTrustEvaluator(
                        certificates: certificates, performDefaultValidation: isValidated, validateHost: false)
                    return .composite(evaluators: [
                        .composite(evaluators: [pins]), .composite(evaluators: [revocation]),
                    ])
                }
                try await composite(current).evaluate(trust, forHost: "localhost")
                let revoked = chain.filter { !current.contains($0) }
                guard !revoked.isEmpty else { continue }
                count += 1
                let error = await #expect(throws: AFError.self) {
                    try await composite(revoked).evaluate(trust, forHost: "localhost")
                }
                guard case .serverTrustEvaluationFailed(.certificatePinningFailed) = error else {
                    Issue.record("\(entry.name): \(String(describing: error))")
                    continue
                }
            }
        }
        #expect(count > 0)
    }

    // MARK: Connection and session reuse

    @Test(OverEachTransport(), arguments: [true, false])
    func anotherPolicyRequiresAnotherConnection(isKept: Bool) async throws {
        let server = try await SecureServer(
            certificates, ["bad": .init("expired"), "good": .init("good")],
            settings: isKept ? "" : "keepalive_timeout 0;")
        let transport = transport
        let open = session(DisabledTrustEvaluator(), transport: transport)
        let plain = session(nil, transport: transport)
        let strict = session(DefaultTrustEvaluator(), transport: transport)
        let pinned = session(
            PublicKeysTrustEvaluator(keys: [try certificate("expired.crt").publicKey]), transport: transport)
        var resumed: [String] = []
        for _ in 0..<2 {
            resumed.append(try await plain.request(server.url("good")).serializingString().value)
            _ = try await open.request(server.url("bad")).serializingString().value
        }
        // If the server closes each connection, requests without an evaluator resume the TLS session.
        #expect(resumed.last?.hasSuffix(isKept ? ".\n" : "r\n") == true)
        let sent = try await server.requestBytes(to: "bad")
        for session in [plain, strict, pinned] {
            #expect(await get(try server.url("bad"), by: session).error != nil)
        }
        #expect(await get(try server.url("good"), by: pinned).error != nil)
        _ = try await strict.request(server.url("good")).serializingString().value
        #expect(try await server.requestBytes(to: "bad") == sent)
    }

    // MARK: Managers

    @Test func aHostWithoutAnEvaluatorIsRejectedOrEvaluatedByTheTransport() async throws {
        let server = try await server(["bad": .init("expired")])
        let strict = ServerTrustManager(evaluators: ["example.com": DefaultTrustEvaluator()])
        let lax = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: strict.evaluators)
        let strictSession = Session(configuration: configuration, serverTrustManager: strict)
        let laxSession = Session(configuration: configuration, serverTrustManager: lax)
        let error = await get(try server.url("good"), by: strictSession).error
        guard case .serverTrustEvaluationFailed(.noRequiredEvaluator("localhost")) = error else {
            throw try #require(error)
        }
        #expect(try await server.requestBytes(to: "good") == 0)
        #expect(await get(try server.url("good"), by: laxSession).error == nil)
        let refusal = await get(try server.url("bad"), by: laxSession).error?.underlyingError as? URLError
        #expect(refusal?.code == .serverCertificateHasBadDate)
    }

    @Test func spellingsOfAHostDoNotEvadeItsEvaluator() async throws {
        let server = try await server()
        let manager = ServerTrustManager(
            allHostsMustBeEvaluated: false, evaluators: ["LocalHost": PublicKeysTrustEvaluator(keys: [])])
        let session = Session(configuration: configuration, serverTrustManager: manager)
        for host in ["localhost", "LOCALHOST", "LocalHost"] {
            let error = await get(try server.url("good", host: host), by: session).error
            #expect(error?.isServerTrustEvaluationError == true, "\(host): \(String(describing: error))")
        }
        #expect(try await server.requestBytes(to: "good") == 0)
    }

    /// A manager that matches domains and returns an asynchronous evaluator.
    private final class DomainManager: ServerTrustManager, @unchecked Sendable {
        let evaluator: any ServerTrustEvaluating

        init(_ evaluator: any ServerTrustEvaluating) {
            self.evaluator = evaluator
            super.init(evaluators: [:])
        }

        override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
            host.hasSuffix("localhost") ? evaluator : nil
        }
    }

    private final class WaitingEvaluator: AsyncServerTrustEvaluating {
        struct Rejection: Error {}

        let answer: Deferred<Bool>
        let asked = Locked<[String]>([])

        init(_ answer: Deferred<Bool>) { self.answer = answer }

        func evaluate(_ trust: ServerTrust, forHost host: String) async throws {
            asked.withLock { $0.append(host) }
            guard await answer.value else { throw Rejection() }
        }
    }

    @Test func anEvaluatorCanBeAsynchronous() async throws {
        let server = try await server()
        let answer = Deferred<Bool>()
        let evaluator = WaitingEvaluator(answer)
        let session = Session(configuration: configuration, serverTrustManager: DomainManager(evaluator))
        let url = try server.url("good", host: "server.localhost")
        let task = session.request(url).serializingString()
        try await waitWhile { evaluator.asked.withLock({ $0.isEmpty }) }
        #expect(try await server.requestBytes(to: "good") == 0)
        answer.fulfill(true)
        _ = try await task.value
        for _ in 0..<5 { _ = try await session.request(url).serializingString().value }
        #expect(evaluator.asked.withLock { $0 } == ["server.localhost"])
    }

    @Test(arguments: [ExchangeOptions.HTTPVersion.http1, .automatic])
    func requestsThatMeetTheSameCertificatesWaitForOneDecision(version: ExchangeOptions.HTTPVersion) async throws {
        let server = try await server()
        let evaluator = WaitingEvaluator(Deferred<Bool>())
        let session = session(evaluator, version: version)
        let url = try server.url("good")
        let first = session.request(url)
        async let cancelled = first.serializingString().response
        try await waitWhile { evaluator.asked.withLock({ $0.isEmpty }) }
        let tasks = (0..<20).map { _ in session.request(url).serializingString() }
        let waiting = tasks.map { task in Task { await task.response.error } }
        let connectionCount = version == .http1 ? 6 : 1
        try await waitWhile {
            await session.connectionStatistics.map { ($0.inUse, $0.waiting) } ?? (0, 0)
                != (connectionCount, 21 - connectionCount)
        }
        first.cancel()
        #expect(await cancelled.error?.isExplicitlyCancelledError == true)
        evaluator.answer.fulfill(true)
        for task in waiting { #expect(await task.value == nil) }
        // One evaluation is for the canceled request, and one replaces it.
        #expect(evaluator.asked.withLock { $0.count } <= 2)
    }

    /// An evaluator whose first evaluation ends only when it is canceled. Later ones accept the server.
    private final class InitiallyEndlessEvaluator: AsyncServerTrustEvaluating {
        let count = Locked(0)

        func evaluate(_ trust: ServerTrust, forHost host: String) async throws {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { try await Task.sleep(for: .seconds(3_600)) }
        }
    }

    /// Over HTTP/1.1 with two other requests, the connection of the canceled request isn't needed and closes. With 20, another
    /// request uses it.
    @Test(arguments: [2, 20], [ExchangeOptions.HTTPVersion.http1, .automatic])
    func anEvaluationForACancelledRequestIsRepeatedOnceForAllOthers(
        otherCount: Int, version: ExchangeOptions.HTTPVersion
    ) async throws {
        let server = try await SecureServer(
            certificates, ["good": .init("good")], settings: "ssl_protocols TLSv1.3;")
        let keyLog = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: keyLog) }
        var configuration = configuration
        configuration.tlsKeyLogFile = keyLog
        configuration.httpVersion = version
        let evaluator = InitiallyEndlessEvaluator()
        let session = Session(
            configuration: configuration, serverTrustManager: ServerTrustManager(evaluators: ["localhost": evaluator]))
        let url = try server.url("good")
        let first = session.request(url)
        async let cancelled = first.serializingString().response
        try await waitWhile { evaluator.count.withLock({ $0 }) == 0 }
        let tasks = (0..<otherCount).map { _ in session.request(url).serializingString() }
        let others = tasks.map { task in Task { await task.response.error } }
        func handshakeCount() throws -> Int {
            let log = try String(contentsOf: keyLog, encoding: .utf8)
            return log.split(separator: "\n").count { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0") }
        }
        // A connection joins the evaluation in the same loop iteration that logs the end of its handshake.
        let connectionCount = version == .http1 ? min(otherCount + 1, 6) : 1
        try await waitWhile { try handshakeCount() < connectionCount }
        try await waitWhile { await session.connectionStatistics.map({ $0.inUse + $0.waiting }) != otherCount + 1 }
        first.cancel()
        #expect(await cancelled.error?.isExplicitlyCancelledError == true)
        for other in others { #expect(await other.value == nil) }
        #expect(evaluator.count.withLock { $0 } == 2)
        // The server doesn't support HTTP/2, so the others get more connections after the evaluation.
        #expect(
            try handshakeCount() == connectionCount || version == .automatic && handshakeCount() <= min(otherCount, 6))
    }

    /// Counts its evaluations of each certificate.
    private final class Counting: ServerTrustEvaluating {
        let asked = Locked<[Certificate: Int]>([:])

        func evaluate(_ trust: ServerTrust, forHost host: String) throws {
            try trust.af.performValidation(forHost: host)
            asked.withLock { $0[trust.certificates[0], default: 0] += 1 }
        }
    }

    /// Starts a server that simulates several machines with different certificates. Each connection reaches a random
    /// one of them.
    private func machines(_ count: Int) async throws -> SecureServer {
        let shares = (1..<count).map { "\(String(format: "%.2f", 100 / Double(count)))% \($0);" }.joined()
        return try await SecureServer(
            certificates, ["good": .init("machine-$machine")],
            settings:
                "split_clients \"$connection\" $machine { \(shares) * 0; } keepalive_timeout 0; ssl_session_cache off; ssl_session_tickets off;"
        )
    }

    @Test(arguments: [8, 32]) func aHostCanHaveManyCertificates(count: Int) async throws {
        let server = try await machines(count)
        let url = try server.url("good")
        for _ in 0..<60 {
            let response = await get(url, by: session(Counting()))
            #expect(response.error == nil)
        }
        let evaluator = Counting()
        let session = session(evaluator)
        for _ in 0..<60 { #expect(await session.request(url).serializingString().response.error == nil) }
        let asked = evaluator.asked.withLock { $0 }
        #expect(asked.count > count / 2 && asked.values.allSatisfy { $0 == 1 }, "\(asked.values)")
        let other = Counting()
        _ = await get(url, by: self.session(other))
        #expect(other.asked.withLock { !$0.isEmpty })
    }

    /// A server that presents different certificates on each connection.
    private final class ChangingCertificateTransport: Transport {
        let capabilities = TransportCapabilities(name: "restless", features: .serverTrust)
        let count = Locked(0)
        private let certificate: Data

        init(_ certificate: Certificate) { self.certificate = certificate.derEncoded }

        func send(_ exchange: Exchange) async throws -> TransportResponse {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let chain = PresentedChain(
                certificates: Array(repeating: certificate, count: number), stapledOCSPResponse: nil)
            throw TransportError(
                .certificateUntrusted, phase: .tlsHandshake, url: exchange.url, message: "undecided",
                underlying: UndecidedTrust(chain, authorities: CertificateAuthorities(file: nil)))
        }
    }

    @Test(OverEachTransport()) func constantlyChangingCertificatesFail() async throws {
        let transport = ChangingCertificateTransport(try certificate("good.crt"))
        let session = session(DisabledTrustEvaluator(), transport: transport)
        let url = try #require(URL(string: "https://localhost/"))
        #expect(await session.request(url).serializingString().response.error != nil)
        #expect(transport.count.withLock { $0 } == 65)
    }

    @Test func anErrorOfAnEvaluatorIsTheCause() async throws {
        let server = try await server()
        let answer = Deferred<Bool>()
        answer.fulfill(false)
        let session = session(.composite(evaluators: [DefaultTrustEvaluator(), WaitingEvaluator(answer)]))
        let error = await get(try server.url("good"), by: session).error
        guard case .serverTrustEvaluationFailed(.customEvaluationFailed(let cause)) = error else {
            throw try #require(error)
        }
        #expect(cause is WaitingEvaluator.Rejection)
        #expect(try await server.requestBytes(to: "good") == 0)
    }

    @Test func aRequestIsCancelledWhileItsEvaluatorDecides() async throws {
        let server = try await server()
        let evaluator = WaitingEvaluator(Deferred<Bool>())
        let session = session(evaluator)
        let request = session.request(try server.url("good"))
        let task = request.serializingString()
        async let response = task.response
        try await waitWhile { evaluator.asked.withLock({ $0.isEmpty }) }
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        evaluator.answer.fulfill(true)
        #expect(try await server.requestBytes(to: "good") == 0)
    }

    private struct Wrapper: Transport {
        let base: any Transport
        var capabilities: TransportCapabilities { base.capabilities }

        func send(_ exchange: Exchange) async throws -> TransportResponse { try await base.send(exchange) }
    }

    @Test func behindAWrapperACancelledRequestReleasesItsEvaluation() async throws {
        let server = try await server()
        let evaluator = WaitingEvaluator(Deferred<Bool>())
        let transport = Wrapper(base: TransportKind.platform.make(configuration))
        let session = session(evaluator, transport: transport)
        let first = session.request(try server.url("good"))
        async let response = first.serializingString().response
        try await waitWhile { evaluator.asked.withLock({ $0.isEmpty }) }
        let second = session.request(try server.url("good")).serializingString()
        async let other = second.response
        first.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        evaluator.answer.fulfill(true)
        #expect(await other.error == nil)
    }

    @Test(arguments: [ExchangeOptions.HTTPVersion.http1, .automatic])
    func aRejectionIsSharedByWaitingRequests(version: ExchangeOptions.HTTPVersion) async throws {
        let server = try await server()
        let evaluator = WaitingEvaluator(Deferred<Bool>())
        let session = session(evaluator, version: version)
        let url = try server.url("good")
        let tasks = (0..<6).map { _ in session.request(url).serializingString() }
        let responses = tasks.map { task in Task { await task.response.error } }
        try await waitWhile { await session.connectionStatistics.map({ $0.inUse + $0.waiting }) != 6 }
        try await waitWhile { evaluator.asked.withLock({ $0.isEmpty }) }
        // By now, all connections have received the certificates, or will receive them during the first evaluation.
        try await Task.sleep(for: .milliseconds(200))
        evaluator.answer.fulfill(false)
        for response in responses { #expect(await response.value?.isServerTrustEvaluationError == true) }
        #expect(evaluator.asked.withLock { $0.count } == 1)
        #expect(try await server.requestBytes(to: "good") == 0)
    }

    @Test func aSessionIsResumedOnlyWhileItsCertificatesAreAccepted() async throws {
        let server = try await SecureServer(
            certificates, ["good": .init("good")], settings: "keepalive_timeout 0;")
        let url = try server.url("good")
        let transport = TransportKind.platform.make(configuration)
        let pinned = session(DefaultTrustEvaluator(), transport: transport)
        var texts: [String] = []
        for _ in 0..<3 { texts.append(try await pinned.request(url).serializingString().value) }
        #expect(texts.first?.hasSuffix(".\n") == true && texts.last?.hasSuffix("r\n") == true, "\(texts)")
        // Another evaluator requires a full handshake, and closing the connections drops the TLS session.
        let other = session(DefaultTrustEvaluator(), transport: transport)
        #expect(try await other.request(url).serializingString().value.hasSuffix(".\n"))
        transport.closeIdleConnections()
        #expect(try await pinned.request(url).serializingString().value.hasSuffix(".\n"))
    }

    // MARK: Hops

    @Test func aRedirectUsesTheEvaluatorOfItsHost() async throws {
        let server = try await server(["bad": .init("expired")])
        let manager = ServerTrustManager(
            evaluators: ["localhost": DisabledTrustEvaluator(), "127.0.0.1": DefaultTrustEvaluator()])
        let session = Session(configuration: configuration, serverTrustManager: manager)
        let target = try server.url("bad", host: "127.0.0.1")
        let response = await get(try server.url("good", path: "/to?\(target)"), by: session)
        guard case .serverTrustEvaluationFailed(.defaultEvaluationFailed(let output)) = response.error else {
            throw try #require(response.error)
        }
        #expect(output.host == "127.0.0.1" && output.error.code == .expired)
        #expect(try await server.requestBytes(to: "bad") == 0)
    }

    @Test func downloadsAndStreamsAreRejected() async throws {
        let server = try await server(["bad": .init("expired")])
        let session = session(DefaultTrustEvaluator())
        let download = await session.download(try server.url("bad")).serializingDownloadedFileURL().response
        #expect(download.error?.isServerTrustEvaluationError == true)
        var streamed: AFError?
        for await event in session.streamRequest(try server.url("bad")).streamTask().streamingData() {
            if case .complete(let completion) = event.event { streamed = completion.error }
        }
        #expect(streamed?.isServerTrustEvaluationError == true)
        #expect(try await server.requestBytes(to: "bad") == 0)
    }

    @Test func aOneShotBodyIsSentAfterTheDecision() async throws {
        let server = try await server()
        let session = session(DefaultTrustEvaluator())
        let chunks = AsyncStream<Data> { continuation in
            for _ in 0..<3 { continuation.yield(Data(count: 1_000)) }
            continuation.finish()
        }
        let url = try server.url("good", path: "/body")
        let response = await session.upload(chunks, to: url).serializingString().response
        #expect(response.error == nil)
        #expect(response.metrics?.transactionMetrics.last?.countOfRequestBodyBytesBeforeEncoding == 3_000)
    }

    /// A custom transport without support for certificate evaluation.
    private struct CustomTransport: Transport {
        let capabilities = TransportCapabilities(name: "foreign", features: [])

        func send(_ exchange: Exchange) async throws -> TransportResponse {
            TransportResponse(head: ResponseHead(status: 200, url: exchange.url), body: .data(Data("sent".utf8)))
        }
    }

    @Test func aCustomTransportIsRejected() async throws {
        let url = try #require(URL(string: "https://localhost:1/"))
        let manager = ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator()])
        let pinned = await get(url, by: Session(serverTrustManager: manager, transport: CustomTransport())).error
        #expect(pinned?.localizedDescription.contains("server trust") == true, "\(String(describing: pinned))")
        let delegate = SessionDelegate()
        delegate.sessionDidReceiveChallenge = { _, _ in (.performDefaultHandling, nil) }
        for transport in [CustomTransport(), URLSessionTransport()] as [any Transport] {
            let session = Session(delegate: delegate, transport: transport)
            let error = await get(url, by: session).error
            #expect(error?.localizedDescription.contains("server trust") == true, "\(String(describing: error))")
        }
    }

    @Test func unsupportedSettingsAreRejected() async throws {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        let session = Session(configuration: configuration, transport: URLSessionTransport())
        let error = await get(try #require(URL(string: "https://localhost:1/")), by: session).error
        #expect(error?.localizedDescription.contains("certificateBundle") == true)
    }

    @Test func aTransportWithoutEvaluationRejects() async throws {
        let evaluated = Session(
            serverTrustManager: ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator()]),
            transport: URLSessionTransport())
        let error = await get(try #require(URL(string: "https://localhost:1/")), by: evaluated).error
        #expect(error?.localizedDescription.contains("server trust") == true, "\(String(describing: error))")
    }
}

extension ServerTrust {
    /// Returns the chain that satisfies revocation lists.
    fileprivate func validateRevocation(chainFor lists: [Data]) throws -> [Certificate] {
        var trust = self
        trust.revocationLists = lists
        return try trust.validate()
    }
}
