import Afar
import AfarTestServer
import Foundation
import Testing

@testable import AfarBodyCodings

/// Compressed request bodies, decompressed by other implementations.
@Suite struct BodyCodingsTests {
    static let bodies: [Data] = [
        Data(), Data([0]), Data("hello, hello, hello".utf8), Data(repeating: 7, count: 1 << 20), random(65_536),
        random(1_000_003), Data(random(5_000).dropFirst(7)).dropFirst(3),
    ]

    static func random(_ count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// The server sends back the compressed body, which the transport decodes.
    @Test(arguments: ["br", "zstd"])
    func bodiesAreDecodedByOtherLibraries(coding: String) async throws {
        let server = try await TestServer.start()
        server.route("/") { request in
            ServerResponse(
                headers: ["Content-Encoding": request.headers["Content-Encoding"] ?? "identity"], body: request.body)
        }
        let session = Session()
        let interceptor: any RequestInterceptor =
            coding == "br" ? .brotliCompressor : .zstandardCompressor
        for body in Self.bodies {
            var request = try URLRequest(url: server.url("/"), method: .post)
            request.httpBody = body
            let response = await session.request(request, interceptor: interceptor)
                .serializingData(emptyResponseCodes: [200]).response
            #expect(response.value == body, "\(body.count)")
            #expect(response.request?.headers["Content-Encoding"] == coding)
        }
        await server.stop()
    }

    @Test func textIsSmaller() throws {
        let text = Data(String(repeating: "All happy families are alike. ", count: 1_000).utf8)
        #expect(try BrotliCoding.encode(text).count < 200)
        #expect(try ZstandardCoding.encode(text).count < 200)
    }

    @Test func errorsNameTheCoding() {
        let error = BodyCodingError(coding: "br", reason: "the body is too large")
        #expect(error.localizedDescription.contains("br: the body is too large"))
    }
}
