import Afar

struct HubCredential: AuthenticationCredential {
    let accessToken: String
    let refreshToken: String
    let expiration: Date

    var requiresRefresh: Bool { Date(timeIntervalSinceNow: 60) > expiration }
}

/// Requests a new access token when the old one is rejected or about to expire.
final class HubAuthenticator: Authenticator {
    private struct Answer: Decodable, Sendable {
        let accessToken: String
        let refreshToken: String
        let expiresIn: TimeInterval
    }

    private let tokenURL: String

    init(tokenURL: String) {
        self.tokenURL = tokenURL
    }

    func apply(_ credential: HubCredential, to urlRequest: inout URLRequest) {
        urlRequest.headers.add(.authorization(bearerToken: credential.accessToken))
    }

    func refresh(
        _ credential: HubCredential, for session: Session,
        completion: @escaping @Sendable (Result<HubCredential, Error>) -> Void
    ) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        AF.request(
            tokenURL, method: .post,
            parameters: ["grant_type": "refresh_token", "refresh_token": credential.refreshToken]
        )
        .validate()
        .responseDecodable(of: Answer.self, queue: .global(), decoder: decoder) { response in
            switch response.result {
            case let .success(answer):
                let expiration = Date(timeIntervalSinceNow: answer.expiresIn)
                completion(
                    .success(
                        HubCredential(
                            accessToken: answer.accessToken, refreshToken: answer.refreshToken, expiration: expiration))
                )
            case let .failure(error):
                completion(.failure(error))
            }
        }
    }

    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: Error
    ) -> Bool {
        response.statusCode == 401
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: HubCredential) -> Bool {
        urlRequest.headers["Authorization"] == HTTPHeader.authorization(bearerToken: credential.accessToken).value
    }
}
