import Alamofire
import Testing

/// Uploads a picture in a form that is encoded first.
class AvatarUploader {
    func upload(_ picture: Data, to url: URL, completion: @escaping @Sendable (String) -> Void) {
        Alamofire.upload(
            multipartFormData: { multipartFormData in
                multipartFormData.append(picture, withName: "avatar", fileName: "a.jpg", mimeType: "image/jpeg")
                multipartFormData.append("1".data(using: .utf8) ?? Data(), withName: "version")
            },
            to: url,
            encodingCompletion: { encodingResult in
                switch encodingResult {
                case .success(let upload, _, _):
                    upload
                        .uploadProgress { progress in print("avatar:", progress.fractionCompleted) }
                        .responseString { response in completion(response.result.value ?? "nothing") }
                case .failure(let encodingError):
                    completion("\(encodingError)")
                }
            })
    }
}

@Suite struct AvatarUploaderTests {
    @Test func anAvatarIsUploaded() async throws {
        try await withServer { server in
            server.route("/avatar") { request in
                .text(request.text?.components(separatedBy: "Content-Disposition").count == 3 ? "two parts" : "other")
            }
            let answer = await withCheckedContinuation { done in
                AvatarUploader().upload(Data("jpeg".utf8), to: server.url("/avatar")) { done.resume(returning: $0) }
            }
            #expect(answer == "two parts")
        }
    }
}
