import Afar
import HTTPTypes

extension Transport {
    /// Streams a body, discards it and returns its length in bytes.
    func countBody(of url: URL) async throws -> Int {
        let request = HTTPRequest(
            method: .get, scheme: url.scheme, authority: "\(url.host() ?? ""):\(url.port ?? 80)", path: url.path)
        let response = try await send(Exchange(request: request, delivery: .stream(highWaterMark: 1 << 20)))
        guard case .stream(let chunks) = response.body else { return 0 }
        var count = 0
        for try await chunk in chunks { count += chunk.count }
        return count
    }
}
