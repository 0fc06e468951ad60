/// Answers about cookies.
enum Cookies {
    static func received(_ request: ServerRequest) throws -> ServerResponse {
        let pairs = request.headers.values(of: "Cookie").flatMap { $0.split(separator: ";") }
        let cookies = pairs.map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmingSpaces)
            return ServerRequest.Argument(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
        return try Echo.json([
            "cookies": Echo.grouped(cookies),
            "header": request.headers.values(of: "Cookie").joined(separator: "; "),
        ])
    }

    static func set(_ request: ServerRequest) throws -> ServerResponse {
        let response = try Echo.json(["cookies": Echo.grouped(request.arguments)])
        return request.arguments.reduce(response) { $0.adding("Set-Cookie", "\($1.name)=\($1.value); Path=/") }
    }
}
