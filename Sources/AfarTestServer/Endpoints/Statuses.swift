/// Answers whose point is their head.
enum Statuses {
    static func status(_ request: ServerRequest) throws -> ServerResponse {
        let code = try request.number("code", in: 200...999)
        if code == 205 { return ServerResponse(status: code) }
        return .text("\(code) \(StatusText.phrase(for: code))\n", status: code)
    }

    static func headers(_ request: ServerRequest) throws -> ServerResponse {
        var response = try Echo.json(["args": Echo.grouped(request.arguments)])
        for argument in request.arguments {
            if argument.name.lowercased() == "content-type" { response.headers[argument.name] = nil }
            response.headers.append(argument.name, argument.value)
        }
        return response
    }
}

/// Fails a number of times, for tests of retries.
struct Unstable: Sendable {
    private let counts = Locked<[String: Int]>([:])

    func answer(_ request: ServerRequest) throws -> ServerResponse {
        let failures = try request.count("failures", default: 1)
        let attempt = counts.withLock { counts in
            counts[request.argument("key") ?? "", default: 0] += 1
            return counts[request.argument("key") ?? "", default: 0]
        }
        return try .json(["attempt": attempt], status: attempt > failures ? 200 : 503)
    }
}
