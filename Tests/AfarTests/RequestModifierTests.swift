import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// A request modifier runs before the parameters are encoded.
@Suite(.timeLimit(.minutes(1))) struct RequestModifierTests {
    private struct Echo: Decodable, Sendable {
        let method: String
        let args: [String: String]
        let form: [String: String]?
        let headers: [String: String]
    }

    private static func requests(
        of session: Session, _ url: URL, modifier: @escaping Session.RequestModifier
    ) -> [DataRequest] {
        [
            session.request(url, parameters: ["name": "Ada"] as Parameters, requestModifier: modifier),
            session.request(url, parameters: ["name": "Ada"], requestModifier: modifier),
        ]
    }

    @Test(arguments: TransportKind.allCases)
    func aModifiersURLReceivesTheQuery(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let other = server.url("/anything/other?version=2")
        for request in Self.requests(of: session, server.url("/get"), modifier: { $0.url = other }) {
            let echo = try await request.serializingDecodable(Echo.self).value
            #expect(echo.args == ["name": "Ada", "version": "2"])
        }
        #expect(server.requestCount(path: "/anything/other") == 2)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aModifiersMethodDeterminesTheDestination(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        for request in Self.requests(of: session, server.url("/anything"), modifier: { $0.method = .post }) {
            let echo = try await request.serializingDecodable(Echo.self).value
            #expect(echo.method == "POST")
            #expect(echo.args.isEmpty)
            #expect(echo.form == ["name": "Ada"])
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aModifierAppliesToAnUpload(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let echo = try await session.upload(
            Data("body".utf8), to: server.url("/anything"), requestModifier: { $0.headers.add(name: "X-A", value: "b") }
        ).serializingDecodable(Echo.self).value
        #expect(echo.headers["x-a"] == "b")
        await server.stop()
    }
}
