/// Responses that test the handling of heads.
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

/// Fails a number of times, to test retries.
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

/// Responses that redirect the client.
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

/// Responses that test caches.
struct Caching: Sendable {
    private let count = Locked(0)

    func maxAge(_ request: ServerRequest) throws -> ServerResponse {
        let seconds = try request.count("seconds")
        let serial = count.withLock { count in
            count += 1
            return count
        }
        return try .json(["serial": serial]).adding("Cache-Control", "public, max-age=\(seconds)")
    }

    static func entityTag(_ request: ServerRequest) throws -> ServerResponse {
        let validators = Validators(entityTag: "\"\(request.parameters["value"] ?? "")\"")
        return try validators.answer(to: request) ?? validators.added(to: Echo.answer(request))
    }

    static func vary(_ request: ServerRequest) throws -> ServerResponse {
        let names = ["Accept", "Accept-Language"]
        return .text(names.map { "\($0): \(request.headers[$0] ?? "")\n" }.joined())
            .adding("Vary", names.joined(separator: ", "))
            .adding("Cache-Control", "public, max-age=60")
    }
}

/// An entity tag and a modification date, and methods that evaluate a request's conditions.
struct Validators: Sendable {
    var entityTag: String
    /// Seconds since 1970.
    var lastModified: Int?

    /// Returns the response to a request whose condition fails: 304 or 412.
    func answer(to request: ServerRequest) -> ServerResponse? {
        if let tags = request.headers["If-Match"] {
            guard !matches(tags, weakly: false) else { return nil }
            return added(to: ServerResponse(status: 412))
        }
        let isUnchanged =
            if let tags = request.headers["If-None-Match"] {
                matches(tags, weakly: true)
            } else if let lastModified, let since = request.headers["If-Modified-Since"].flatMap(HTTPDate.parse) {
                lastModified <= since
            } else {
                false
            }
        guard isUnchanged else { return nil }
        return added(to: ServerResponse(status: request.method == "GET" || request.method == "HEAD" ? 304 : 412))
    }

    /// Whether a Range header applies. With If-Range, it applies only if the body is unchanged.
    func allowRange(in request: ServerRequest) -> Bool {
        guard let condition = request.headers["If-Range"] else { return true }
        return condition == entityTag || condition == lastModified.map(HTTPDate.text(secondsSince1970:))
    }

    func added(to response: ServerResponse) -> ServerResponse {
        let tagged = response.adding("ETag", entityTag)
        return lastModified.map { tagged.adding("Last-Modified", HTTPDate.text(secondsSince1970: $0)) } ?? tagged
    }

    private func matches(_ tags: String, weakly: Bool) -> Bool {
        let matching: Set<String> = weakly ? ["*", entityTag, "W/" + entityTag] : ["*", entityTag]
        return tags.split(separator: ",").contains { matching.contains(String($0.trimmingSpaces)) }
    }
}
