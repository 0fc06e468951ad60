/// Answers that a cache has something to do with.
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
