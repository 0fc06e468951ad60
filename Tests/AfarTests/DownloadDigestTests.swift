import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The verification of downloads by digests of the caller or the server.
@Suite(.timeLimit(.minutes(1))) struct DownloadDigestTests {
    private static let text = "The quick brown fox jumps over the lazy dog"
    /// The published digests of the text.
    private static let hexadecimal = "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592"
    private static let sha512 = """
        07e547d9586f6a73f73fbac0435ed76951218fb7d0c8d788a309d785436bbb642e93a252a954f23912547d1e8a3b5ed6e1bfd7097821233fa0538f3db854fee6
        """
    private let directory = ScratchDirectory()
    private let session = Session()

    private var file: URL { directory.url.appending(path: "text") }
    private var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// Returns a server for the text with additional header fields.
    private func server(_ headers: [String: String] = [:], status: Int = 200) async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/text") { _ in
            headers.reduce(.text(Self.text, status: status)) { $0.adding($1.key, $1.value) }
        }
        return server
    }

    private func value(_ hexadecimal: String) throws -> String {
        let digest = try #require(FileDigest(hexadecimal: hexadecimal))
        return "\(digest.algorithm.rawValue)=:\(digest.bytes.base64EncodedString()):"
    }

    private func digestError(of response: AFDownloadResponse<URL>) -> DigestError? {
        response.error?.underlyingError as? DigestError
    }

    @Test func theCallersDigestMustMatch() async throws {
        let server = try await server()
        for text in [Self.hexadecimal, Self.hexadecimal.uppercased(), Self.sha512] {
            let digest = try #require(FileDigest(hexadecimal: text))
            let response = await session.download(server.url("/text"), to: file).verify(digest)
                .serializingDownloadedFileURL().response
            #expect(response.value == file)
            try FileManager.default.removeItem(at: file)
        }
        let wrong = FileDigest.sha256(expected: Data(count: 32))
        let request = session.download(server.url("/text"), to: file).verify(wrong)
        let response = await request.serializingDownloadedFileURL().response
        #expect(digestError(of: response) == .mismatch(.sha256))
        #expect(response.error?.isResponseValidationError == true)
        #expect(!exists)
        #expect(response.resumeData == nil)
    }

    @Test func theServersDigestMustMatch() async throws {
        let correct = try value(Self.hexadecimal)
        let wrong = "sha-512=:\(Data(count: 64).base64EncodedString()):"
        let cases: [(name: String, value: String, DigestError?)] = [
            ("Repr-Digest", correct, nil), ("Content-Digest", try value(Self.sha512), nil),
            ("Repr-Digest", "md5=:AAAA:, \(correct);a=1, unixsum=:AA==:", nil),
            ("Repr-Digest", "\(correct), \(wrong)", .mismatch(.sha512)), ("Content-Digest", wrong, .mismatch(.sha512)),
            ("Repr-Digest", "sha-256=:AAAA:", .malformed), ("Repr-Digest", "sha-256", .malformed),
            ("Repr-Digest", "sha-256=\"x\"", .malformed), ("Repr-Digest", "md5=:AAAA:", .missing),
            ("X-Other", correct, .missing),
        ]
        for (name, value, error) in cases {
            let server = try await server([name: value])
            let response = await session.download(server.url("/text"), to: file).validate().verifyDigest()
                .serializingDownloadedFileURL().response
            #expect(digestError(of: response) == error, "\(name): \(value)")
            #expect(exists == (error == nil))
            try? FileManager.default.removeItem(at: file)
            let headers = server.lastRequest(path: "/text")?.headers
            #expect(headers?["Want-Repr-Digest"] != nil && headers?["Accept-Encoding"] == "identity")
        }
        let silent = try await server()
        let request = session.download(silent.url("/text"), to: file).verifyDigest(isRequired: false)
        #expect(await request.serializingDownloadedFileURL().response.error == nil)
    }

    @Test func aCodedBodyHasNoUsableDigest() async throws {
        let server = try await TestServer.start()
        let value = try value(Self.hexadecimal)
        server.route("/coded") { _ in
            // A valid gzip stream of no bytes.
            let body = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
            return ServerResponse(headers: ["Content-Encoding": "gzip", "Repr-Digest": value], body: body)
        }
        let response = await session.download(server.url("/coded"), to: file).verifyDigest()
            .serializingDownloadedFileURL().response
        #expect(digestError(of: response) == .contentCoding)
    }

    @Test func validatorsOfTheRequestAndTheSessionComeFirst() async throws {
        let server = try await server(status: 404)
        var configuration = SessionConfiguration.default
        configuration.validation = .standard
        let digest = FileDigest.sha256(expected: Data(count: 32))
        let validating = Session(configuration: configuration)
        let requests = [
            session.download(server.url("/text"), to: file).verify(digest).validate(),
            validating.download(server.url("/text"), to: file).verify(digest),
        ]
        for request in requests {
            #expect(await request.serializingDownloadedFileURL().response.error?.responseCode == 404)
        }
    }

    @Test func theDigestOfAResumedDownloadIsThatOfTheWholeFile() async throws {
        let digest = try value(Self.hexadecimal)
        let part = "sha-256=:\(Data(count: 32).base64EncodedString()):"
        let head = "ETag: \"v1\"\r\nRepr-Digest: \(digest)\r\n"
        let server = try await RawServer.start(scripts: [
            [.respond("HTTP/1.1 200 OK\r\n\(head)Content-Length: 43\r\n\r\n" + Self.text.prefix(9)), .close],
            [
                .respond(
                    "HTTP/1.1 206 Partial Content\r\n\(head)Content-Digest: \(part)\r\nContent-Range: bytes 9-42/43\r\n"
                        + "Content-Length: 34\r\n\r\n" + Self.text.dropFirst(9))
            ],
        ])
        let interrupted = await session.download(server.url).serializingDownloadedFileURL().response
        let data = try #require(interrupted.resumeData)
        let request = session.download(resumingWith: data, to: DownloadRequest.destination(file)).verifyDigest()
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.value == file)
        #expect(response.response?.statusCode == 206)
        await server.stop()
    }

    @Test func hexadecimalDigestsAreChecked() {
        for text in ["", "abc", String(repeating: "g", count: 64), String(repeating: "+1", count: 32)] {
            #expect(FileDigest(hexadecimal: text) == nil)
        }
        #expect(FileDigest(hexadecimal: String(repeating: "0F", count: 64))?.bytes == Data(repeating: 15, count: 64))
    }
}
