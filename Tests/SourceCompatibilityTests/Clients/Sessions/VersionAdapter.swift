import Afar
import Foundation

/// Adds the version of an app to requests, and rejects some of them.
final class VersionAdapter: Adapter, @unchecked Sendable {
    init(version: String) {
        super.init { urlRequest, _, completion in
            var urlRequest = urlRequest
            urlRequest.headers.update(name: "X-Version", value: version)
            completion(.success(urlRequest))
        }
    }

    override func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, Error>) -> Void
    ) {
        guard urlRequest.url?.path != "/get/refused" else {
            return completion(.failure(URLError(.userAuthenticationRequired)))
        }
        super.adapt(urlRequest, using: state, completion: completion)
    }
}
