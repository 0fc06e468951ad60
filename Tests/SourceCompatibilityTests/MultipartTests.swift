import Afar
import AfarTestServer
import Foundation
import Testing

/// Multipart forms, as in code for Alamofire 5.
@Suite struct MultipartTests {
    struct Profile {
        var name = "Ada"
        var avatar = Data([0x89, 0x50])
        var tags = ["math", "engines"]
    }

    enum Router: URLRequestConvertible {
        case profile(URL)

        func asURLRequest() throws -> URLRequest {
            switch self {
            case .profile(let url): try URLRequest(url: url, method: .put, headers: [.authorization(bearerToken: "t")])
            }
        }
    }

    final class RelatedForm: MultipartFormData, @unchecked Sendable {
        override var contentType: String {
            get { "multipart/related; boundary=\(boundary)" }
            set { super.contentType = newValue }
        }
    }

    @Test func closures() async throws {
        let server = try await TestServer.start()
        let profile = Profile()
        let parameters: [String: Any] = ["age": 36, "city": "London"]
        let text = await withCheckedContinuation { continuation in
            AF.upload(
                multipartFormData: { multipartFormData in
                    multipartFormData.append(Data(profile.name.utf8), withName: "name")
                    multipartFormData.append(
                        profile.avatar, withName: "avatar", fileName: "avatar.jpg", mimeType: "image/jpeg")
                    for (key, value) in parameters {
                        if let data = "\(value)".data(using: .utf8) { multipartFormData.append(data, withName: key) }
                    }
                    for tag in profile.tags { multipartFormData.append(Data(tag.utf8), withName: "tags[]") }
                }, to: server.url("/post"), method: .post, headers: ["X-Client": "compat"]
            )
            .uploadProgress { progress in print("Upload Progress: \(progress.fractionCompleted)") }
            .validate()
            .responseString(queue: .global()) { response in
                continuation.resume(returning: response.value)
            }
        }
        let received = try #require(server.lastRequest(path: "/post"))
        #expect(text?.contains("multipart/form-data; boundary=") == true)
        #expect(received.headers["X-Client"] == "compat")
        let body = String(decoding: received.body, as: UTF8.self)
        for name in ["name", "avatar", "age", "city", "tags[]"] { #expect(body.contains("name=\"\(name)\"")) }
        await server.stop()
    }

    @Test func objects() async throws {
        let server = try await TestServer.start()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("multipart-\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("from a file".utf8).write(to: file)
        let formData = MultipartFormData(fileManager: .default, boundary: "compat")
        formData.append(file, withName: "file")
        formData.append(file, withName: "file", fileName: "named.txt", mimeType: "text/plain")
        #expect(formData.contentLength == 22)
        let response = await AF.upload(
            multipartFormData: formData, with: Router.profile(server.url("/put")),
            usingThreshold: MultipartFormData.encodingMemoryThreshold
        ).validate().serializingDecodable(Echo.self).response
        #expect(response.value?.method == "PUT")
        #expect(response.value?.data?.components(separatedBy: "from a file").count == 3)
        #expect(response.request?.headers["Content-Type"] == "multipart/form-data; boundary=compat")
        await server.stop()
    }

    @Test func functionsOfTheModule() async throws {
        let server = try await TestServer.start()
        let form = RelatedForm()
        form.append(Data("x".utf8), withName: "x")
        let requests = [
            AF.upload(multipartFormData: form, to: server.url("/upload"), usingThreshold: 0, fileManager: .default),
            AF.upload(multipartFormData: form, with: Router.profile(server.url("/upload"))),
            AF.upload(multipartFormData: { $0.append(Data(), withName: "y") }, to: server.url("/upload")),
            AF.upload(
                multipartFormData: { $0.append(Data(), withName: "y") }, with: Router.profile(server.url("/upload")),
                interceptor: nil),
        ]
        for request in requests {
            let response = await request.validate().serializingData().response
            #expect(response.error == nil)
        }
        #expect(requests[0].request?.headers["Content-Type"]?.hasPrefix("multipart/related") == true)
        await server.stop()
    }

    @Test func errors() async throws {
        let formData = MultipartFormData()
        let url = URL(fileURLWithPath: "/no/such/file.txt")
        formData.append(url, withName: "missing")
        do {
            _ = try formData.encode()
            Issue.record("it was encoded")
        } catch let AFError.multipartEncodingFailed(reason) {
            if case let .bodyPartFileNotReachableWithError(atURL, error) = reason {
                #expect(atURL == url)
                #expect((error as NSError).code == CocoaError.fileReadNoSuchFile.rawValue)
            } else {
                Issue.record("\(reason)")
            }
        }
        let error = await AF.upload(multipartFormData: formData, to: "http://127.0.0.1:1/").serializingData().response
            .error
        #expect(error?.isMultipartEncodingError == true)
        #expect(error?.url == url)
        if let error, case let .multipartEncodingFailed(.inputStreamReadFailed(underlying)) = error {
            print((underlying as? AFError.UnexpectedInputStreamLength)?.bytesRead ?? 0)
        }
    }
}
