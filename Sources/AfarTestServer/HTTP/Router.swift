import Foundation

/// Finds the route for a request.
struct Router: Sendable {
    enum Outcome: Sendable {
        case found(Route.Handler, parameters: [String: String])
        case refused(ServerResponse)
    }

    /// Grouped by their first segment, so that a request is compared with few of them.
    private var routes: [String: [Route]] = [:]

    /// Adds a route that takes precedence over those added before.
    mutating func add(_ route: Route) {
        let key = route.pattern.split(separator: "/").first.map(String.init) ?? ""
        routes[Self.isLiteral(key) ? key : "*", default: []].insert(route, at: 0)
    }

    func route(_ request: ServerRequest) -> Outcome {
        let path = request.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        var allowed: Set<String> = []
        for route in (routes[path.first ?? ""] ?? []) + (routes["*"] ?? []) {
            guard let parameters = route.match(path) else { continue }
            if route.allows(request.method) { return .found(route.handler, parameters: parameters) }
            allowed.formUnion(route.methods ?? [])
        }
        guard allowed.isEmpty else {
            return .refused(
                .text("\(request.method) is not allowed here\n", status: 405)
                    .adding("Allow", allowed.sorted().joined(separator: ", ")))
        }
        return .refused(.text("nothing at \(request.path)\n", status: 404))
    }

    private static func isLiteral(_ segment: String) -> Bool {
        segment != "*" && !segment.hasPrefix("{")
    }
}
