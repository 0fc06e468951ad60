import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Multipart forms received by a real server, over each real transport.
@Suite struct MultipartUploadTests {
    private let directory = ScratchDirectory()

    private struct Echo: Decodable, Sendable {
        let method: String
        let headers: [String: String]
        let dataBase64: String
        let length: Int

        var body: Data { Data(base64Encoded: dataBase64) ?? Data() }
    }

    /// Parts can be appended until the request is created. The form is encoded only then.
    @Test(arguments: TransportKind.allCases)
    func partsAppendedDuringCreationAreSent(kind: TransportKind) async throws {
        struct FillingConvertible: URLRequestConvertible, @unchecked Sendable {
            let form: MultipartFormData
            let url: URL
            func asURLRequest() throws -> URLRequest {
                form.append(Data("Ada".utf8), withName: "user")
                return try URLRequest(url: url, method: .post)
            }
        }
        let server = try await TestServer.start()
        let session = kind.session()
        let form = MultipartFormData(boundary: "b")
        let echo = try await session.upload(
            multipartFormData: form, with: FillingConvertible(form: form, url: server.url("/post"))
        ).validate().serializingDecodable(Echo.self).value
        #expect(echo.body == text("--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nAda\r\n--b--\r\n"))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func fieldsFilesAndStreamsArrive(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let photo = directory.url.appendingPathComponent("photo.png")
        try PatternBytes.bytes(1_000).write(to: photo)
        let form = MultipartFormData(boundary: "b")
        form.append(Data("Ada".utf8), withName: "user")
        form.append(photo, withName: "files")
        form.append(photo, withName: "files", fileName: "other.bin", mimeType: "x/y")
        form.append(InputStream(data: Data("S".utf8)), withLength: 1, name: "s", fileName: "s", mimeType: "text/plain")
        let echo = try await session.upload(
            multipartFormData: form, to: server.url("/post"), headers: ["X-A": "b", "Content-Type": "text/plain"]
        ).validate().serializingDecodable(Echo.self).value
        let expected = [
            text("--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nAda"),
            text("\r\n--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"photo.png\"\r\n"),
            text("Content-Type: image/png\r\n\r\n"), PatternBytes.bytes(1_000),
            text("\r\n--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"other.bin\"\r\n"),
            text("Content-Type: x/y\r\n\r\n"), PatternBytes.bytes(1_000),
            text("\r\n--b\r\nContent-Disposition: form-data; name=\"s\"; filename=\"s\"\r\n"),
            text("Content-Type: text/plain\r\n\r\nS\r\n--b--\r\n"),
        ]
        #expect(echo.body == Data(expected.joined()))
        #expect(echo.method == "POST")
        #expect(echo.headers["content-type"] == "multipart/form-data; boundary=b")
        #expect(echo.headers["content-length"] == "\(echo.length)")
        #expect(echo.headers["x-a"] == "b")
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func hostileNamesAreEscaped(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let hostile = "\"; filename=\"x\"\r\nX-Evil: 1\r\n\r\n--b--"
        let echo = try await session.upload(
            multipartFormData: { $0.append(Data("v".utf8), withName: hostile, fileName: "../\(hostile).png") },
            to: server.url("/anything"), method: .put
        ).validate().serializingDecodable(Echo.self).value
        let escaped = "%22; filename=%22x%22%0D%0AX-Evil: 1%0D%0A%0D%0A--b--"
        let lines = String(decoding: echo.body, as: UTF8.self).components(separatedBy: "\r\n")
        #expect(lines.count == 7)
        #expect(
            lines.dropFirst().prefix(4) == [
                "Content-Disposition: form-data; name=\"\(escaped)\"; filename=\"../\(escaped).png\"",
                "Content-Type: image/png", "", "v",
            ])
        #expect(echo.method == "PUT")
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.fileUpload]))
    func aLargeFormIsSentFromATemporaryFile(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = PatternBytes.bytes(20_000_000)
        let file = directory.url.appendingPathComponent("large")
        try bytes.write(to: file)
        let form = MultipartFormData(boundary: "b")
        form.append(file, withName: "f", fileName: "f", mimeType: "x/y")
        let request = session.upload(multipartFormData: form, to: server.url("/upload"))
            .uploadProgress(queue: .global()) { _ in }.validate()
        let receipt = try await request.serializingDecodable(UploadRequestTests.Receipt.self).value
        let head = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\nContent-Type: x/y\r\n\r\n"
        let expected = text(head) + bytes + text("\r\n--b--\r\n")
        #expect(receipt.bytes == expected.count)
        #expect(receipt.checksum == BodyChecksum(expected).hex)
        guard case .file(let spooled, shouldRemove: true) = request.uploadable else {
            Issue.record("\(String(describing: request.uploadable))")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: spooled.path))
        #expect(request.uploadProgress.completedUnitCount == Int64(expected.count))
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.fileUpload]))
    func aRetrySendsTheTemporaryFileAgain(kind: TransportKind) async throws {
        struct RetryOnce: RequestInterceptor {
            func retry(
                _ request: Request, for session: Session, dueTo error: any Error,
                completion: @escaping @Sendable (RetryResult) -> Void
            ) {
                completion(.retry)
            }
        }
        let server = try await TestServer.start()
        let session = kind.session()
        let form = MultipartFormData()
        form.append(InputStream(data: PatternBytes.bytes(500_000)), withLength: 500_000, headers: [:])
        let request = session.upload(
            multipartFormData: form, to: server.url("/unstable?key=form&failures=2"), usingThreshold: 0,
            interceptor: RetryOnce()
        ).validate()
        let response = await request.serializingData().response
        #expect(response.error == nil)
        #expect(request.retryCount == 2)
        let received = try #require(server.lastRequest(path: "/unstable"))
        let ends = [text("--\(form.boundary)\r\n\r\n"), text("\r\n--\(form.boundary)--\r\n")]
        #expect(received.body == ends[0] + PatternBytes.bytes(500_000) + ends[1])
        guard case .file(let spooled, _) = request.uploadable else {
            Issue.record("\(String(describing: request.uploadable))")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: spooled.path))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aFormThatCannotBeEncodedNeverReachesTheServer(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let missing = directory.url.appendingPathComponent("missing")
        let error = await session.upload(
            multipartFormData: { $0.append(missing, withName: "a") }, to: server.url("/post")
        ).serializingData().response.error
        #expect(error?.isMultipartEncodingError == true)
        #expect(error?.localizedDescription.contains(missing.path) == true)
        #expect(server.connectionCount == 0)
        await server.stop()
    }

    private func text(_ text: String) -> Data { Data(text.utf8) }
}
