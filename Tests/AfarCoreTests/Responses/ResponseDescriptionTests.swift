import AfarCore
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Descriptions of responses.
@Suite struct ResponseDescriptionTests {
    private var urlRequest: URLRequest {
        get throws {
            var urlRequest = try URLRequest(
                url: "https://ada:hush1@example.com/people?token=hush2", method: .post,
                headers: ["Authorization": "Bearer hush3", "Content-Type": "application/json"])
            urlRequest.httpBody = Data(#"{"name":"Ada"}"#.utf8)
            return urlRequest
        }
    }

    private func head(_ headers: [String: String] = ["Content-Type": "text/plain"]) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "https://example.com/people"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: 201, httpVersion: "HTTP/1.1", headerFields: headers))
    }

    private func response(_ data: Data?, _ result: AFResult<String>) throws -> AFDataResponse<String> {
        DataResponse(
            request: try urlRequest, response: try head(["Set-Cookie": "id=hush4", "Content-Type": "text/plain"]),
            data: data, metrics: nil, serializationDuration: 0, result: result)
    }

    @Test func aDataResponseHasAReadableDescription() throws {
        let response = try response(Data("one\ntwo\u{1B}[2J".utf8), .success("one"))
        #expect(response.description == #"success("one")"#)
        #expect(
            response.debugDescription == """
                Request: POST https://***@example.com/people?token=***
                  Authorization: Bearer ***
                  Content-Type: application/json
                  Body: 14 bytes
                    {"name":"Ada"}
                Response: 201
                  Content-Type: text/plain
                  Set-Cookie: ***
                  Body: 11 bytes
                    one
                    two\\u001B[2J
                Times: latency 0.000 s, request 0.000 s, serialization 0.000 s, total 0.000 s
                Result: success("one")
                """)
    }

    @Test func controlCharactersAndSecretsAreHidden() throws {
        let hostile = "a\u{1B}[2J\u{9B}\u{202E}\u{200F}b"
        let response = try response(Data(), .success(hostile))
        for text in [response.description, response.debugDescription] {
            #expect(
                !text.unicodeScalars.contains {
                    $0 == "\u{1B}" || $0 == "\u{9B}" || $0 == "\u{202E}" || $0 == "\u{200F}"
                })
        }
        #expect(response.description.contains("\\u009B\\u202E\\u200Fb"))
        let url = try #require(URL(string: "http://h/?token=hush"))
        let failed = DataResponse<Int, any Error>(
            request: nil, response: nil, data: nil, metrics: nil, serializationDuration: 0,
            result: .failure(URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])))
        #expect(failed.description.contains("http://h/?token=***"))
        #expect(!"\(failed) \(failed.debugDescription)".contains("hush"))
        let download = DownloadResponse<Int, any Error>(
            request: nil, response: nil, fileURL: nil, resumeData: nil, metrics: nil, serializationDuration: 0,
            result: .failure(URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])))
        #expect(!"\(download) \(download.debugDescription)".contains("hush"))
    }

    @Test func theSessionsSensitiveHeadersAreHidden() async {
        var configuration = SessionConfiguration.default
        configuration.sensitiveHeaders = ["x-own"]
        let session = Session(configuration: configuration, transport: MockTransport { _ in .text("ok") })
        let response = await session.request("http://mock/", headers: ["X-Own": "hush"])
            .serializingResponse(using: Bytes()).response
        #expect(response.debugDescription.contains("X-Own: ***"))
        #expect(!response.debugDescription.contains("hush"))
    }

    @Test func missingPartsAreNamed() {
        let response = AFDataResponse<String>(
            request: nil, response: nil, data: nil, metrics: nil, serializationDuration: 0,
            result: .failure(.explicitlyCancelled))
        #expect(
            response.debugDescription == """
                Request: none
                Response: none
                Times: latency 0.000 s, request 0.000 s, serialization 0.000 s, total 0.000 s
                Result: failure(\(AFError.explicitlyCancelled))
                """)
    }

    @Test(arguments: [Data([0xFF, 0xD8, 0xFF, 0]), Data(repeating: 0, count: 5000), Data([0xC3, 0x28])])
    func binaryBodiesAreDescribedByTheirSize(body: Data) throws {
        let lines = try response(body, .success("")).debugDescription.split(separator: "\n")
        let index = try #require(lines.lastIndex { $0.hasPrefix("  Body: ") })
        #expect(lines[index] == "  Body: \(body.count == 5000 ? "5.0 kB" : "\(body.count) bytes")")
        #expect(lines[index + 1].hasPrefix("Times: "))
    }

    @Test(arguments: ["a", "ü", "日", "\u{1F600}"])
    func longBodiesAreTruncated(character: String) throws {
        let body = Data(String(repeating: character, count: 100_000).utf8)
        let text = try response(body, .success(String(repeating: "x", count: 100_000))).debugDescription
        #expect(text.count < 4000)
        #expect(text.contains("\(character)…\nTimes: "))
        #expect(text.hasSuffix("x…"))
        #expect(!text.contains("\u{FFFD}"))
    }

    @Test func aDownloadDescribesItsFiles() throws {
        let file = URL(filePath: "/tmp/map")
        let response = AFDownloadResponse<URL>(
            request: try URLRequest(url: "https://example.com/map", method: .get), response: try head(), fileURL: file,
            resumeData: Data(count: 1234), metrics: nil, serializationDuration: 0, result: .success(file))
        #expect(
            response.debugDescription == """
                Request: GET https://example.com/map
                Response: 201
                  Content-Type: text/plain
                File: /tmp/map
                Temporary file: none
                Destination: none
                Resume data: 1.2 kB
                Times: latency 0.000 s, request 0.000 s, serialization 0.000 s, total 0.000 s
                Result: success(\(file))
                """)
    }
}
