import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import TestServers
import Testing

/// Bodies without a length end with the TLS connection, not with the underlying TCP connection (RFC 9112, section 9.8).
@Suite(.timeLimit(.minutes(1))) struct TLSTruncationTests {
    enum Kind: CaseIterable { case data, download, stream }

    private static let heads = [
        "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
    ]

    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func session(_ change: (inout SessionConfiguration) -> Void = { _ in }) -> Session {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        change(&configuration)
        return Session(configuration: configuration)
    }

    private func error(of kind: Kind, _ session: Session, _ url: URL) async -> AFError? {
        switch kind {
        case .data: return await session.request(url).serializingData().response.error
        case .download: return await session.download(url).serializingData().response.error
        case .stream:
            for await event in session.streamRequest(url).streamTask().streamingData() {
                if case .complete(let completion) = event.event { return completion.error }
            }
            return nil
        }
    }

    @Test(arguments: Kind.allCases, heads) func aTruncatedBodyFails(_ kind: Kind, _ head: String) async throws {
        for isTLS13 in [true, false] {
            let server = try await RawServer.start([.respond(head + "bo"), .close])
            let relay = try TLSRelay(to: server.port, certificates, isTLS13: isTLS13)
            let error = await error(of: kind, session(), relay.url)
            #expect(error?.transportError?.code == .bodyIncomplete, "\(error as Any)")
            #expect(error?.transportError?.message.contains("close_notify") == true)
        }
    }

    @Test(arguments: Kind.allCases, heads) func aBodyEndedByCloseNotifyIsComplete(_ kind: Kind, _ head: String)
        async throws
    {
        for isTLS13 in [true, false] {
            let server = try await RawServer.start([.respond(head + "body" + TLSRelay.closeNotify), .close])
            let relay = try TLSRelay(to: server.port, certificates, isTLS13: isTLS13)
            #expect(await error(of: kind, session(), relay.url) == nil)
        }
    }

    @Test(arguments: Kind.allCases) func aSessionCanAcceptTruncation(_ kind: Kind) async throws {
        for isTLS13 in [true, false] {
            let server = try await RawServer.start([.respond(Self.heads[0] + "body"), .close])
            let relay = try TLSRelay(to: server.port, certificates, isTLS13: isTLS13)
            let session = session { $0.acceptsBodiesWithoutTLSCloseNotify = true }
            #expect(await error(of: kind, session, relay.url) == nil)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n",
    ])
    func aSelfDelimitedBodyRequiresNoAlert(_ answer: String) async throws {
        let server = try await RawServer.start([.respond(answer), .close])
        let relay = try TLSRelay(to: server.port, certificates)
        let session = session()
        let response = await session.request(relay.url).serializingData(emptyResponseCodes: [204, 304]).response
        #expect(response.error == nil && response.response != nil)
    }

    @Test func aHeadRequiresNoAlert() async throws {
        let server = try await RawServer.start([.respond(Self.heads[0]), .close])
        let relay = try TLSRelay(to: server.port, certificates)
        let session = session()
        let request = session.request(relay.url, method: .head)
        #expect(await request.serializingData(emptyRequestMethods: [.head]).response.error == nil)
    }

    @Test func aRedirectRequiresNoAlert() async throws {
        let server = try await RawServer.start(scripts: [
            [.respond("HTTP/1.1 302 Found\r\nLocation: /next\r\n\r\nbody"), .close],
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")],
        ])
        let relay = try TLSRelay(to: server.port, certificates)
        let session = session()
        #expect(try await session.request(relay.url).serializingString().value == "ok")
    }

    @Test func aTruncatedBodyIsNotCached() async throws {
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\n\r\n"
        let server = try await RawServer.start(scripts: [
            [.respond(head + "bo"), .close], [.respond(head + "body" + TLSRelay.closeNotify), .close], [.close],
        ])
        let relay = try TLSRelay(to: server.port, certificates)
        let session = session { $0.cacheStore = MemoryCacheStore() }
        #expect(await error(of: .data, session, relay.url) != nil)
        for _ in 0..<2 { #expect(try await session.request(relay.url).serializingString().value == "body") }
        #expect(server.requests.count == 2)
    }
}
