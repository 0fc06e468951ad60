/// An entity tag and a date, and the conditions on them that a request may state.
struct Validators: Sendable {
    var entityTag: String
    /// Seconds since 1970.
    var lastModified: Int?

    /// The answer to a request whose condition fails: 304 or 412.
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

    /// Whether a Range header counts, which If-Range makes depend on an unchanged body.
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
