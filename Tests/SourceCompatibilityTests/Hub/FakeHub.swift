import AfarTestServer
import Foundation

/// A fake of the service, with the features that the client needs.
enum FakeHub {
    private struct StoredIssue: Codable {
        var number: Int
        var title: String
        var state = "open"
        var labels: [String]
    }

    static func start() async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/token", methods: ["POST"]) { request in
            guard request.text == "grant_type=refresh_token&refresh_token=again" else {
                return refusal("bad token", 400)
            }
            return .content(
                "application/json",
                Data(#"{"access_token":"new","refresh_token":"and again","expires_in":3600}"#.utf8))
        }
        server.route("/repos/{owner}/{name}") { request in
            guard isKnown(request) else { return refusal("who are you?", 401) }
            guard server.requestCount(path: request.path) > 2 else { return refusal("busy", 503) }
            guard request.parameters["owner"] == "ada" else { return refusal("no such thing", 404) }
            return .content(
                "application/json",
                Data(
                    """
                    {"id": 7, "full_name": "ada/engine", "private": false, "stargazers_count": 1843, \
                    "pushed_at": "1843-09-01T12:00:00Z"}
                    """.utf8))
        }
        server.route("/repos/{owner}/{name}/issues", methods: ["GET"]) { request in
            guard isKnown(request) else { return refusal("who are you?", 401) }
            let page = request.arguments.first { $0.name == "page" }.flatMap { Int($0.value) } ?? 1
            let labels = request.arguments.filter { $0.name == "labels" }.map(\.value)
            let issues = page > 2 ? [] : [StoredIssue(number: page, title: "Issue \(page)", labels: labels)]
            return try .json(issues)
        }
        server.route("/repos/{owner}/{name}/issues", methods: ["POST"]) { request in
            struct Wanted: Decodable {
                let title: String
                let labels: [String]
            }
            guard isKnown(request) else { return refusal("who are you?", 401) }
            let wanted = try JSONDecoder().decode(Wanted.self, from: request.body)
            guard !wanted.title.isEmpty else { return refusal("An issue needs a title.", 422) }
            return try .json(StoredIssue(number: 3, title: wanted.title, labels: wanted.labels), status: 201)
        }
        server.route("/repos/{owner}/{name}/issues/{number}", methods: ["PATCH", "DELETE"]) { request in
            guard isKnown(request) else { return refusal("who are you?", 401) }
            guard request.method == "PATCH" else { return ServerResponse(status: 204) }
            let number = request.parameters["number"].flatMap { Int($0) } ?? 0
            return try .json(StoredIssue(number: number, title: "Old", state: "closed", labels: ["done"]))
        }
        server.route("/releases/{id}/assets", methods: ["POST"]) { request in
            let isForm = request.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true
            guard isForm, let text = request.text else { return refusal("not a form", 400) }
            let hasBoth = text.contains("name=\"notes\"") && text.contains("filename=\"engine.txt\"")
            return hasBoth
                ? .content("application/json", Data(#"[{"name":"engine.txt","size":6}]"#.utf8), status: 201)
                : refusal("a part is missing", 400)
        }
        server.route("/archives/*") { _ in
            ServerResponse(
                headers: ["Content-Disposition": "attachment; filename=\"engine.zip\""], body: Data(count: 100_000))
        }
        server.route("/events") { _ in
            ServerResponse(headers: ["Content-Type": "application/json"]) { writer in
                try writer.write(#"{"kind":"push","actor":"ada"}"#)
                try writer.wait(seconds: 600)
            }
        }
        return server
    }

    private static func isKnown(_ request: ServerRequest) -> Bool {
        request.headers["Authorization"] == "Bearer new" && request.headers["X-Hub-Version"] != nil
    }

    private static func refusal(_ message: String, _ status: Int) -> ServerResponse {
        .content("application/json", Data(#"{"message":"\#(message)"}"#.utf8), status: status)
    }
}
