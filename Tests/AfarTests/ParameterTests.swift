import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Encoded parameters as parsed by a server, over each real transport.
@Suite struct ParameterTests {
    /// Names and values that contain all kinds of characters.
    static let pairs: [String: String] = [
        "plain": "abc-._~123", "space": " a  b ", "general": ":/?#[]@", "sub": "!$&'()*+,;=",
        "percent": "100% %25 %", "illegal": "\"<>\\^`{|}", "control": "\r\n\t\0\u{7f}", "unicode": "日本語 é e\u{301} 😀🏳️‍🌈",
        "empty": "", "a b&c=d": "name", "käse/?": "name", "z+%": "name",
    ]

    static func sorted(_ arguments: [ServerRequest.Argument]) -> [[String]] {
        arguments.map { [$0.name, $0.value] }.sorted { $0[0] < $1[0] }
    }

    static let expected = pairs.map { [$0.key, $0.value] }.sorted { $0[0] < $1[0] }

    @Test(arguments: TransportKind.allCases, [HTTPMethod.get, .delete, .head])
    func aQueryRoundTrips(kind: TransportKind, method: HTTPMethod) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let requests = [
            session.request(server.url("/anything"), method: method, parameters: Self.pairs as Parameters),
            session.request(server.url("/anything"), method: method, parameters: Self.pairs),
            session.request(
                server.url("/anything"), method: method, parameters: Self.pairs,
                encoder: .urlEncodedForm(encoder: URLEncodedFormEncoder(spaceEncoding: .plusReplaced))),
        ]
        for request in requests {
            let response = await request.validate().serializingData().response
            #expect(response.error == nil)
            let received = try #require(server.lastRequest(path: "/anything"))
            #expect(Self.sorted(received.arguments) == Self.expected)
            #expect(received.bodyLength == 0)
        }
        #expect(server.requestCount(path: "/anything") == 3)
        await server.stop()
    }

    struct Echo: Decodable, Sendable {
        let form: [String: String]?
        let json: [String: String]?
        let data: String?
    }

    @Test(arguments: TransportKind.allCases, [HTTPMethod.post, .put, .patch, .query])
    func aBodyRoundTrips(kind: TransportKind, method: HTTPMethod) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let url = server.url("/anything")
        let forms = [
            session.request(url, method: method, parameters: Self.pairs as Parameters),
            session.request(url, method: method, parameters: Self.pairs),
        ]
        for request in forms {
            #expect(try await request.serializingDecodable(Echo.self).value.form == Self.pairs)
        }
        let documents = [
            session.request(url, method: method, parameters: Self.pairs as Parameters, encoding: JSONEncoding.default),
            session.request(url, method: method, parameters: Self.pairs, encoder: .json),
        ]
        for request in documents {
            #expect(try await request.serializingDecodable(Echo.self).value.json == Self.pairs)
        }
        // XML can't represent control characters.
        let lists = [
            session.request(
                url, method: method, parameters: Self.pairs as Parameters, encoding: PropertyListEncoding.binary)
        ]
        for request in lists {
            _ = try await request.serializingDecodable(Echo.self).value
            let received = try #require(server.lastRequest(path: "/anything"))
            #expect(try PropertyListDecoder().decode([String: String].self, from: received.body) == Self.pairs)
            #expect(received.headers["Content-Type"] == "application/x-plist")
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func anExistingQueryIsSentUnchanged(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let targets = [
            ("/get?x=%20&y=1+2&%7a=%2F#fragment", "/get?x=%20&y=1+2&%7a=%2F&k=v"), ("/get?", "/get?k=v"),
            ("/get?a&", "/get?a&k=v"), ("/get#?", "/get?k=v"), ("/get?a=b?c/d", "/get?a=b?c/d&k=v"),
        ]
        for (path, target) in targets {
            _ = await session.request(server.url(path), parameters: ["k": "v"]).serializingData().response
            #expect(server.lastRequest(path: "/get")?.target == target)
            let url = try #require(URL(string: "\(server.url)\(path)"))
            _ = await session.request(url, parameters: [String: String]()).serializingData().response
            let unchanged = path.prefix { $0 != "#" }
            #expect(server.lastRequest(path: "/get")?.target == String(unchanged))
        }
        await server.stop()
    }

    struct Search: Encodable, Sendable {
        struct Filter: Encodable, Sendable {
            let tags = ["b", "a"]
            let isOpen = true
        }
        let filter = Filter()
        let matrix = [[1, 2], [3]]
        let missing: Int? = nil
    }

    @Test(arguments: TransportKind.allCases)
    func nestedNamesArrive(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        _ = await session.request(server.url("/get"), parameters: Search()).serializingData().response
        let received = try #require(server.lastRequest(path: "/get"))
        #expect(
            received.arguments.map { "\($0.name)=\($0.value)" } == [
                "filter[isOpen]=1", "filter[tags][]=b", "filter[tags][]=a", "matrix[][]=1", "matrix[][]=2",
                "matrix[][]=3",
            ])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func unencodableParametersAreNotSent(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let array = await session.request(server.url("/get"), parameters: [1, 2]).serializingData().response
        guard case .parameterEncoderFailed(.encoderFailed(URLEncodedFormEncoder.Error.invalidRootObject))? = array.error
        else {
            Issue.record("\(array)")
            return
        }
        let number = await session.request(
            server.url("/post"), method: .post, parameters: ["x": Double.nan], encoder: .json
        ).serializingData().response
        #expect(number.error?.isParameterEncodingError == true)
        #expect(server.requestCount == 0)
        await server.stop()
    }
}
