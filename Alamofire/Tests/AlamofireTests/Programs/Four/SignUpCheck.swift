import Alamofire
import Testing

/// Checks a form before it is sent, and shows the server's refusal.
class SignUpCheck {
    func send(_ url: URL, name: String, completion: @escaping @Sendable (String) -> Void) {
        let headers: HTTPHeaders = ["Accept": "application/json"]
        Alamofire.request(
            url, method: .post, parameters: ["name": name], encoding: JSONEncoding.default, headers: headers
        )
        .authenticate(user: "app", password: "secret")
        .validate(statusCode: 200..<300)
        .responseData { response in
            switch response.result {
            case .success(let data):
                completion(
                    DataRequest.stringResponseSerializer().serializeResponse(nil, response.response, data, nil).value
                        ?? "no text")
            case .failure(let error):
                completion("refused with \(error.responseCode ?? 0)")
            }
        }
    }
}

@Suite struct SignUpCheckTests {
    @Test func namesAreChecked() async throws {
        try await withServer { server in
            server.route("/names", methods: ["POST"]) { request in
                request.text?.contains("root") == true ? .text("", status: 422) : .text("welcome")
            }
            let url = server.url("/names")
            let good = await withCheckedContinuation { done in
                SignUpCheck().send(url, name: "ada") { done.resume(returning: $0) }
            }
            let bad = await withCheckedContinuation { done in
                SignUpCheck().send(url, name: "root") { done.resume(returning: $0) }
            }
            #expect(good == "welcome" && bad == "refused with 422")
        }
    }
}
