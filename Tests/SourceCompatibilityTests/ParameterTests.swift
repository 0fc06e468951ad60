import Afar
import AfarTestServer
import Testing

/// Parameters, headers and compressed bodies in all common forms.
@Suite struct ParameterTests {
    struct Search: Encodable {
        var userName = "Ada"
        var tags = ["a", "b"]
        var isOpen = true
        var since = Date(timeIntervalSince1970: 0)
        var token = Data("t".utf8)
        var page: Int?
    }

    @Test func everyOptionOfTheFormEncoder() throws {
        let encoder = URLEncodedFormEncoder(
            alphabetizeKeyValuePairs: true,
            arrayEncoding: .indexInBrackets,
            boolEncoding: .literal,
            dataEncoding: .custom { data in "\(data.count)" },
            dateEncoding: .iso8601,
            keyEncoding: .convertToSnakeCase,
            keyPathEncoding: .dots,
            nilEncoding: .null,
            spaceEncoding: .plusReplaced,
            allowedCharacters: .afURLQueryAllowed)
        let text: String = try encoder.encode(Search())
        #expect(
            text == "is_open=true&page=null&since=1970-01-01T00%3A00%3A00Z&tags%5B0%5D=a&tags%5B1%5D=b&token=1"
                + "&user_name=Ada")
        let data: Data = try encoder.encode(Search())
        #expect(String(data: data, encoding: .utf8) == text)
        let encoders = [
            URLEncodedFormEncoder(arrayEncoding: .custom { key, index in "\(key)(\(index))" }),
            URLEncodedFormEncoder(keyEncoding: .custom { $0.uppercased() }),
            URLEncodedFormEncoder(dateEncoding: .custom { "\($0.timeIntervalSince1970)" }),
            URLEncodedFormEncoder(keyPathEncoding: .init { subkey in "/\(subkey)" }),
            URLEncodedFormEncoder(nilEncoding: URLEncodedFormEncoder.NilEncoding { "none" }),
        ]
        for encoder in encoders { _ = try encoder.encode(Search()) as String }
        do {
            _ = try encoder.encode([1]) as String
        } catch URLEncodedFormEncoder.Error.invalidRootObject(let root) {
            #expect(!root.isEmpty)
        }
    }

    /// A custom encoding based on another one.
    struct Versioned: ParameterEncoding {
        func encode(_ urlRequest: URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
            var request = try urlRequest.asURLRequest()
            request.headers.add(name: "X-Version", value: "1")
            return try JSONEncoding.default.encode(request, with: parameters)
        }
    }

    /// A custom encoder.
    final class Enveloped: JSONParameterEncoder, @unchecked Sendable {
        override func encode<Parameters: Encodable>(
            _ parameters: Parameters?, into request: URLRequest
        ) throws -> URLRequest {
            guard let parameters = parameters else { return request }
            return try super.encode(["data": parameters], into: request)
        }
    }

    @Test func customEncodingsAndEncoders() async throws {
        let server = try await TestServer.start()
        let versioned = try await AF.request(
            server.url("/post"), method: .post, parameters: ["list": [["a": 1]]], encoding: Versioned()
        ).serializingDecodable(Echo.self).value
        #expect(versioned.data == #"{"list":[{"a":1}]}"#)
        #expect(versioned.headers["x-version"] == "1")
        let enveloped = try await AF.request(
            server.url("/post"), method: .post, parameters: ["a": 1], encoder: Enveloped()
        ).serializingDecodable(Echo.self).value
        #expect(enveloped.data == #"{"data":{"a":1}}"#)
        let array = try JSONEncoding.prettyPrinted.encode(
            URLRequest(url: server.url("/post")), withJSONObject: [["a": 1], ["b": 2]])
        #expect(array.headers["Content-Type"] == "application/json")
        let escaped = URLEncoding.default.escape("a b&c")
        #expect(escaped == "a%20b%26c")
        let pairs: [(String, String)] = URLEncoding.default.queryComponents(fromKey: "k", value: [1, 2])
        #expect(pairs.map { "\($0)=\($1)" } == ["k%5B%5D=1", "k%5B%5D=2"])
        let custom = URLEncoding(
            destination: .httpBody, arrayEncoding: .custom { key, _ in key }, boolEncoding: .literal)
        #expect(try custom.encode(URLRequest(url: server.url), with: ["k": [true]]).httpBody == Data("k=true".utf8))
        await server.stop()
    }

    @Test func headersAreACollection() {
        var headers: HTTPHeaders = [.accept("a/b"), .authorization(username: "u", password: "p"), .contentType("c/d")]
        headers.add(HTTPHeader(name: "X-One", value: "1"))
        headers.update(name: "x-one", value: "2")
        headers.update(.userAgent("Own"))
        headers.remove(name: "accept")
        headers["X-Two"] = "3"
        #expect(headers.value(for: "X-ONE") == "2")
        #expect(headers.map { $0.name }.sorted() == headers.sorted().map(\.name).sorted())
        #expect(headers.contains { $0.name == "Authorization" && $0.value == "Basic dTpw" })
        for header in headers where header.name == "X-Two" { #expect("\(header)" == "X-Two: 3") }
        headers.sort()
        #expect(headers.dictionary.count == headers.count)
        #expect(HTTPHeaders(["A": "1"]) == HTTPHeaders([HTTPHeader(name: "A", value: "1")]))
        let defaults = [HTTPHeader.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
        // The user's languages can be unavailable.
        #expect(HTTPHeaders.default.allSatisfy { defaults.contains($0) })
    }

    @Test func bodiesAreCompressed() async throws {
        let server = try await TestServer.start()
        let parameters = ["name": String(repeating: "Ada", count: 100)]
        let requests = [
            AF.request(
                server.url("/post"), method: .post, parameters: parameters, encoder: JSONParameterEncoder.default,
                interceptor: .deflateCompressor),
            AF.request(
                server.url("/post"), method: .post, parameters: parameters,
                interceptor: .deflateCompressor(duplicateHeaderBehavior: .replace) { $0.count > 100 }),
            AF.request(
                server.url("/post"), method: .post, parameters: parameters,
                interceptor: DeflateRequestCompressor(
                    duplicateHeaderBehavior: .skip, shouldCompressBodyData: { _ in true })),
        ]
        for request in requests {
            let echo = try await request.serializingDecodable(Echo.self).value
            #expect(echo.headers["content-encoding"] == "deflate")
        }
        let twice = await AF.request(
            server.url("/post"), method: .post, parameters: parameters, headers: [.contentEncoding("br")],
            interceptor: .deflateCompressor
        ).serializingData().response
        guard case let .requestAdaptationFailed(error)? = twice.error else {
            Issue.record("not the compressor's error: \(twice)")
            return
        }
        #expect(error is DeflateRequestCompressor.DuplicateHeaderError)
        await server.stop()
    }
}
