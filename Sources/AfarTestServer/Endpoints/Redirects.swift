/// Answers that send the client elsewhere.
enum Redirects {
    static func chain(_ request: ServerRequest) throws -> ServerResponse {
        let left = try request.count("n")
        return redirect(to: left > 1 ? "/redirect/\(left - 1)" : "/get", status: 302)
    }

    static func to(_ request: ServerRequest) throws -> ServerResponse {
        guard let url = request.argument("url") else { throw BadArgument(reason: "url is missing") }
        return redirect(to: url, status: try request.number("status_code", in: 300...399, default: 302))
    }

    private static func redirect(to location: String, status: Int) -> ServerResponse {
        .text("see \(location)\n", status: status).adding("Location", location)
    }
}
