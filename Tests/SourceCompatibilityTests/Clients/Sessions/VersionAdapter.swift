import Afar
import Foundation

/// Closures' types with an app's own methods.
final class VersionAdapter: Adapter, @unchecked Sendable {
    init(version: String) {
        super.init { urlRequest, _, completion in
            var urlRequest = urlRequest
            urlRequest.headers.update(name: "X-Version", value: version)
            completion(.success(urlRequest))
        }
    }

    override func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, Error>) -> Void
    ) {
        guard urlRequest.url?.path != "/get/refused" else {
            return completion(.failure(URLError(.userAuthenticationRequired)))
        }
        super.adapt(urlRequest, for: session, completion: completion)
    }
}
