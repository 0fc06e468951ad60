import Afar
import AfarAPI
import AfarStructuredFields
import StructuredFieldValues

enum APISamples {
    struct Issue: Decodable, Sendable {
        var number: Int
        var title: String
    }

    struct Order: Decodable, Sendable {
        var id: Int
    }

    struct ServiceError: Error, Decodable {
        var code: String
        var message: String
    }

    struct Results: Decodable {
        var files: [String]
        var nextPageToken: String?
    }

    static func issues(of owner: String) async throws {
        let template = try URITemplate("https://api.example.com/repos/{owner}/{name}/issues{?state}")
        let url = try template.url(["owner": .string(owner), "name": "engine", "state": "open"])
        let pages = AF.pages(url, serializing: .decodable(of: [Issue].self)) {
            $0.validate(decoding: ProblemDetails.self)
        }
        do {
            for try await issue in pages.elements { print("#\(issue.number) \(issue.title)") }
        } catch {
            print(error.decoded(as: ProblemDetails.self)?.title ?? error.localizedDescription)
        }
    }

    static func ownError() async {
        let response = await AF.request("https://api.example.com/orders/9")
            .validate(decoding: ServiceError.self)
            .serializingDecodable(Order.self)
            .response
        if let error = response.error?.decoded(as: ServiceError.self) { print("\(error.code): \(error.message)") }
    }

    static func validation(_ configuration: inout SessionConfiguration) {
        configuration.validation = .decoding(ServiceError.self)
    }

    static func problem() async {
        let response = await AF.request("https://api.example.com/payments", method: .post)
            .validate(decoding: ProblemDetails.self)
            .serializingData()
            .response
        if let problem = response.error?.decoded(as: ProblemDetails.self), problem.type == "/problems/credit" {
            print("\(problem.title ?? "-"), \(problem.status ?? 0), \(problem.extensions["balance"] ?? .null)")
        }
    }

    static func users() async throws {
        let pages = AF.pages("https://api.example.com/users?per_page=2", serializing: .decodable(of: [User].self))
        for try await page in pages {
            print("page \(page.number) of \(page.response?.headers["X-Total-Pages"] ?? "?"): \(page.value.count)")
        }
        for try await user in pages.elements { print(user.name) }
        for try await page in pages { try last(of: page) }
    }

    static func last(of page: Page<[User]>) throws {
        let last = try page.response?.links.first { $0.relationTypes.contains("last") }
        print(last?.target ?? "-")
    }

    static func files(token: String) async throws {
        let pages = AF.pages(
            "https://api.example.com/files", headers: [.authorization(bearerToken: token)],
            serializing: .decodable(of: Results.self), next: .token(\.nextPageToken, parameter: "pageToken"), limit: 50)
        for try await file in pages.elements(\.files) { print(file) }
    }

    static func search() async throws {
        let search = try URITemplate("/search{/kind}{?q,page,tags*}")
        let base = try "https://api.example.com/".asURL()
        let url = try search.url(["kind": "notes", "q": "tea & jam", "page": 2, "tags": ["a", "b"]], relativeTo: base)
        let text = try await AF.request(url).serializingString().value
        print(text)
    }

    struct Priority: StructuredFieldValue {
        static let structuredFieldType = StructuredFieldType.dictionary

        var u: Int?
        var i: Bool?
    }

    static func structuredFields() async throws -> Priority? {
        let headers: HTTPHeaders = [try HTTPHeader(name: "Priority", value: Priority(u: 1, i: true))]
        let response = await AF.request("https://api.example.com/report", headers: headers).serializingData().response
        let priority = try response.response?.headers.value(for: "Priority", as: Priority.self)
        return priority
    }
}
