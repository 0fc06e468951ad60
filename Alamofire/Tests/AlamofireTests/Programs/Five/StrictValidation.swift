import Alamofire
import Testing

/// Validates the head and the content of a response.
enum StrictValidation {
    struct TooOld: Error { let version: String }

    static func load(_ url: URL) async -> String {
        let response = await AF.request(url, headers: [.accept("application/json")])
            .validate(statusCode: [200, 201])
            .validate(contentType: ["application/json"])
            .validate { _, response, _ in
                let version = response.headers["X-Version"] ?? "none"
                return version == "2" ? .success(()) : .failure(TooOld(version: version))
            }
            .serializingString()
            .response
        switch response.error {
        case nil: return "valid"
        case .responseValidationFailed(.unacceptableStatusCode(let code)): return "status \(code)"
        case .responseValidationFailed(.unacceptableContentType(_, let type)): return "type \(type)"
        case .responseValidationFailed(.customValidationFailed(let error)):
            return "version \((error as? TooOld)?.version ?? "?")"
        case let error?: return error.localizedDescription
        }
    }
}

@Suite struct StrictValidationTests {
    @Test func eachRuleIsReported() async throws {
        try await withServer { server in
            server.route("/new") { _ in try .json(["a": 1]).adding("X-Version", "2") }
            server.route("/old") { _ in try .json(["a": 1]).adding("X-Version", "1") }
            #expect(await StrictValidation.load(server.url("/new")) == "valid")
            #expect(await StrictValidation.load(server.url("/old")) == "version 1")
            #expect(await StrictValidation.load(server.url("/status/418")) == "status 418")
            #expect(await StrictValidation.load(server.url("/html")) == "type text/html")
        }
    }
}
