import AfarTestServer
import AfarTrust
import COpenSSL
import Foundation
import HTTPTypes
import TestServers
import Testing

@testable import AfarHTTP
@testable import AfarTransport

/// Caching of TLS sessions from a server on loopback.
@Suite(.timeLimit(.minutes(1))) struct TLSSessionsTests {
    private static let second: UInt64 = 1_000_000_000

    private let certificates: TestCertificates
    private let server: RawServer
    private let relay: TLSRelay
    /// The session from a full handshake.
    private let offered: TLSSession

    init() async throws {
        certificates = try TestCertificates.shared.get()
        server = try await RawServer.start([])
        relay = try TLSRelay(to: server.port, certificates)
        offered = try Self.session(from: relay.url, certificates)
    }

    /// Connects and returns the first session from the server.
    private static func session(
        from url: URL, _ certificates: TestCertificates, _ security: ConnectionSecurity? = nil,
        resuming earlier: TLSSession? = nil
    ) throws -> TLSSession {
        let (stream, socket) = try TLSStream.connected(to: url, certificates, security, resuming: earlier)
        defer { close(socket.descriptor) }
        var sessions: [TLSSession] = []
        stream.onSession = { sessions.append($0) }
        try stream.shakeHands(over: socket)
        // With TLS 1.3, sessions arrive after the handshake.
        while sessions.isEmpty {
            try #require(stream.isIdle())
            if sessions.isEmpty { socket.waitForBytes() }
        }
        stream.shutDown()
        return try #require(sessions.first)
    }

    /// Returns a copy of the session from the full handshake.
    ///
    /// - Parameters:
    ///   - timeout: The time in seconds during which the server resumes the session.
    ///   - chain: The certificates that an evaluator has accepted, or `nil` without an evaluator.
    private func copy(timeout: Int = 1_000, _ chain: PresentedChain? = nil) throws -> TLSSession {
        let raw = try #require(SSL_SESSION_dup(offered.raw))
        SSL_SESSION_set_timeout(raw, timeout)
        return TLSSession(raw, chain, renewing: nil)
    }

    private func key(_ host: String, _ security: ConnectionSecurity? = nil) throws -> ConnectionKey {
        var options = ExchangeOptions()
        options.security = security
        let request = HTTPRequest(method: .get, scheme: "https", authority: host, path: "/")
        return try ConnectionKey(Exchange(request: request, options: options))
    }

    /// Takes the sessions of a key until none is left or one is returned twice.
    private func takeAll(_ sessions: inout TLSSessions, _ key: ConnectionKey) -> [TLSSession] {
        var taken: [TLSSession] = []
        while let session = sessions.take(for: key, at: 0), session !== taken.last { taken.append(session) }
        return taken
    }

    // MARK: Time

    @Test(arguments: [(0, 0), (60, 60), (3_600, 3_600), (86_400, 3_600)])
    func aSessionExpiresAfterTheServersLifetimeOrAnHour(timeout: Int, seconds: UInt64) throws {
        let earliest = MonotonicClock.now
        let session = try copy(timeout: timeout)
        let latest = MonotonicClock.now
        let expiries = (earliest + seconds * Self.second)...(latest + seconds * Self.second)
        #expect(expiries.contains(session.expiry))
    }

    @Test func anExpiredSessionIsNotUsed() throws {
        let key = try key("a")
        let (first, second) = (try copy(timeout: 100), try copy(timeout: 50))
        var sessions = TLSSessions()
        sessions.add(first, for: key)
        sessions.add(second, for: key)
        var (before, after) = (sessions, sessions)
        #expect(before.take(for: key, at: second.expiry - 1) === second)
        #expect(sessions.take(for: key, at: second.expiry) === first)
        #expect(after.take(for: key, at: first.expiry) == nil)
    }

    @Test func aSessionExpiresWithTheServersCertificate() async throws {
        let server = try await SecureServer(certificates, ["site": .init("expired")])
        let security = ConnectionSecurity(identity: nil, evaluation: { _, _ in })
        let session = try Self.session(from: try server.url("site"), certificates, security)
        #expect(session.isResumable && SSL_SESSION_get_timeout(session.raw) > 0)
        #expect(session.expiry <= MonotonicClock.now)
    }

    @Test(arguments: [true, false]) func aRenewedSessionDoesNotOutliveTheOneItRenews(isTLS13: Bool) throws {
        let relay = try TLSRelay(to: server.port, certificates, isTLS13: isTLS13)
        let first = try Self.session(from: relay.url, certificates)
        let renewed = try Self.session(from: relay.url, certificates, resuming: first)
        let again = try Self.session(from: relay.url, certificates, resuming: renewed)
        #expect(renewed.expiry == first.expiry && again.expiry == first.expiry)
        // With TLS 1.2, a resumed session isn't replaced by a new one.
        #expect((renewed === first) == !isTLS13)
        // A server that doesn't know the session performs a full handshake.
        let other = try TLSRelay(to: server.port, certificates, isTLS13: isTLS13)
        #expect(try Self.session(from: other.url, certificates, resuming: renewed).expiry > first.expiry)
    }

    // MARK: Numbers

    @Test func theLatestFourSessionsOfAKeyAreStoredAndUsedOnce() throws {
        let (key, other) = (try key("a"), try key("b"))
        var sessions = TLSSessions()
        let first = try copy()
        sessions.add(first, for: other)
        let added = try (0..<6).map { _ in try copy() }
        for session in added { sessions.add(session, for: key) }
        let taken = takeAll(&sessions, key)
        #expect(taken.map { ObjectIdentifier($0) } == added[2...].reversed().map { ObjectIdentifier($0) })
        #expect(takeAll(&sessions, other).map { ObjectIdentifier($0) } == [ObjectIdentifier(first)])
    }

    @Test func theLatest128SessionsAreKept() throws {
        let keys = try (0..<130).map { try key("host\($0)") }
        var sessions = TLSSessions()
        for key in keys { sessions.add(try copy(), for: key) }
        var rest = sessions
        #expect(keys.map { takeAll(&rest, $0).count } == [0, 0] + Array(repeating: 1, count: 128))
        // A fifth session replaces another one of the same key.
        for _ in 0..<5 { sessions.add(try copy(), for: keys[129]) }
        #expect(
            keys.map { takeAll(&sessions, $0).count } == Array(repeating: 0, count: 5) + Array(repeating: 1, count: 124)
                + [4])
    }

    @Test func aNonResumableSessionIsNotKept() throws {
        let key = try key("a")
        var sessions = TLSSessions()
        // This session has neither an identifier nor a ticket.
        sessions.add(TLSSession(try #require(SSL_SESSION_new()), nil, renewing: nil), for: key)
        #expect(sessions.take(for: key, at: 0) == nil)
    }

    // MARK: Evaluators

    @Test func withAnEvaluatorASessionIsUsedOnlyWhileItsCertificatesAreAccepted() async throws {
        let security = ConnectionSecurity(identity: nil, evaluation: { _, _ in })
        let key = try key("a", security)
        let trust = ServerTrust(
            host: "a", certificates: [], authorities: CertificateAuthorities(file: certificates.authority))
        let chains = (0..<257).map {
            PresentedChain(certificates: [Data("\($0)".utf8)], stapledOCSPResponse: nil)
        }
        var sessions = TLSSessions()
        for _ in 0..<3 { sessions.add(try copy(chains[0]), for: key) }
        #expect(sessions.take(for: key, at: 0) == nil)
        // The first `take` dropped all sessions. A full handshake provides new ones.
        _ = await security.decide(on: chains[0]) { .success(trust) }
        #expect(sessions.take(for: key, at: 0) == nil)
        for _ in 0..<2 { sessions.add(try copy(chains[0]), for: key) }
        #expect(sessions.take(for: key, at: 0) != nil)
        // Only the latest decisions are remembered.
        for chain in chains.dropFirst() { _ = await security.decide(on: chain) { .success(trust) } }
        #expect(sessions.take(for: key, at: 0) == nil)
    }
}
