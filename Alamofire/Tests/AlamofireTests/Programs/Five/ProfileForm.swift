import Alamofire
import Testing

/// A form with a name and a picture, and the progress of its upload.
struct ProfileForm: Sendable {
    let name: String
    let picture: Data

    func send(to url: URL, progress: @escaping @Sendable (Double) -> Void) async -> AFDataResponse<String> {
        await AF.upload(
            multipartFormData: { form in
                form.append(Data(name.utf8), withName: "name")
                form.append(picture, withName: "picture", fileName: "me.png", mimeType: "image/png")
            }, to: url
        )
        .uploadProgress(queue: DispatchQueue(label: "progress")) { progress($0.fractionCompleted) }
        .validate()
        .serializingString()
        .response
    }
}

@Suite struct ProfileFormTests {
    @Test func aProfileIsSent() async throws {
        try await withServer { server in
            server.route("/profile") { request in .text(request.text?.contains("me.png") == true ? "saved" : "empty") }
            let (fractions, fraction) = AsyncStream.makeStream(of: Double.self)
            let response = await ProfileForm(name: "Ada", picture: Data("pixels".utf8))
                .send(to: server.url("/profile")) { fraction.yield($0) }
            fraction.finish()
            #expect(response.value == "saved")
            #expect(await fractions.reduce(0, max) == 1)
        }
    }
}
