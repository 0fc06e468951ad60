import Afar
import HTTPTypes

extension HTTPRequest {
    init(_ url: URL) {
        self.init(
            method: .get, scheme: url.scheme, authority: "\(url.host() ?? ""):\(url.port ?? 80)", path: url.path)
    }
}

extension Transport {
    /// Collects a body in memory and returns its length in bytes.
    func collectBody(of request: HTTPRequest) async throws -> Int {
        guard case .data(let body) = try await send(Exchange(request: request)).body else { return 0 }
        return body.count
    }

    /// Streams a body, discards it and returns its length in bytes.
    func countBody(of url: URL) async throws -> Int {
        let exchange = Exchange(request: HTTPRequest(url), delivery: .stream(highWaterMark: 1 << 20))
        guard case .stream(let chunks) = try await send(exchange).body else { return 0 }
        var count = 0
        for try await chunk in chunks { count += chunk.count }
        return count
    }
}
