/// One entry of the server's list of routes.
struct Route: Sendable {
    enum Handler: Sendable {
        /// Answers on the connection's thread.
        case immediate(@Sendable (ServerRequest) throws -> ServerResponse)
        /// Answers in a task, which is cancelled when the server stops.
        case task(@Sendable (ServerRequest) async throws -> ServerResponse)
    }

    /// Segments with `{names}` for parameters; a last `*` stands for any rest.
    let pattern: String
    /// The methods that are answered, or `nil` for all; where GET is, HEAD is too.
    let methods: Set<String>?
    let handler: Handler
    private let segments: [Substring]

    init(_ pattern: String, methods: Set<String>? = nil, handler: Handler) {
        self.pattern = pattern
        self.methods = methods?.contains("GET") == true ? methods?.union(["HEAD"]) : methods
        self.handler = handler
        segments = pattern.split(separator: "/")
    }

    func allows(_ method: String) -> Bool {
        methods?.contains(method) ?? true
    }

    /// The parameters' values when the path fits the pattern.
    func match(_ path: [String]) -> [String: String]? {
        let isOpen = segments.last == "*"
        guard isOpen ? path.count >= segments.count - 1 : path.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (segment, value) in zip(isOpen ? segments.dropLast() : segments[...], path) {
            if segment.hasPrefix("{") {
                parameters[String(segment.dropFirst().dropLast())] = value
            } else if segment != value {
                return nil
            }
        }
        return parameters
    }
}
