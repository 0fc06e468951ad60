import Alamofire
import Testing

/// Adds a ticket to each request, and buys a new one if the server refuses it.
final class TicketInterceptor: RequestInterceptor, @unchecked Sendable {
    private let lock = NSLock()
    private var number = 1

    var ticket: String { lock.withLock { "ticket-\(number)" } }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.add(.authorization(bearerToken: ticket))
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard request.response?.statusCode == 401, request.retryCount < 3 else {
            return completion(.doNotRetryWithError(error))
        }
        lock.withLock { number += 1 }
        completion(.retryWithDelay(0.01))
    }
}

@Suite struct TicketInterceptorTests {
    @Test func aRefusedTicketIsReplaced() async throws {
        try await withServer { server in
            server.route("/gate") { request in
                request.headers["Authorization"] == "Bearer ticket-3" ? .text("open") : .text("closed", status: 401)
            }
            let interceptor = TicketInterceptor()
            let session = Session(interceptor: interceptor)
            let request = session.request(server.url("/gate")).validate()
            let text = try await request.serializingString().value
            #expect(text == "open")
            #expect(request.retryCount == 2 && interceptor.ticket == "ticket-3")
        }
    }
}
