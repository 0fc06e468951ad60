import Alamofire
import Testing

/// The endpoints of a to-do list.
enum TaskRouter: URLRequestConvertible {
    struct Draft: Encodable, Sendable { let title: String }
    struct Filter: Encodable, Sendable { let done: Bool, page: Int }

    case list(URL, Filter)
    case add(URL, Draft)
    case remove(URL, id: Int)

    var method: HTTPMethod {
        switch self {
        case .list: .get
        case .add: .post
        case .remove: .delete
        }
    }

    func asURLRequest() throws -> URLRequest {
        switch self {
        case .list(let base, let filter):
            let request = try URLRequest(url: base.appendingPathComponent("tasks"), method: method)
            return try URLEncodedFormParameterEncoder.default.encode(filter, into: request)
        case .add(let base, let draft):
            let request = try URLRequest(url: base.appendingPathComponent("tasks"), method: method)
            return try JSONParameterEncoder.default.encode(draft, into: request)
        case .remove(let base, let id):
            return try URLRequest(url: base.appendingPathComponent("tasks/\(id)"), method: method)
        }
    }
}

@Suite struct TaskRouterTests {
    @Test func eachEndpointIsRequested() async throws {
        try await withServer { server in
            server.route("/tasks") { request in .text("\(request.method) \(request.query) \(request.text ?? "")") }
            server.route("/tasks/{id}") { _ in .text("", status: 204) }
            let list = try await AF.request(TaskRouter.list(server.url, .init(done: true, page: 2)))
                .serializingString().value
            #expect(list == "GET done=1&page=2 ")
            let added = try await AF.request(TaskRouter.add(server.url, .init(title: "Bread"))).serializingString()
                .value
            #expect(added == #"POST  {"title":"Bread"}"#)
            let removed = await AF.request(TaskRouter.remove(server.url, id: 4)).validate().serializingData().response
            #expect(removed.response?.statusCode == 204 && removed.error == nil)
        }
    }
}
