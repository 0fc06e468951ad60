import Foundation
import TestSupport

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Token: AuthenticationCredential, Sendable {
    var text: String
    var requiresRefresh = false
}

/// An authenticator for bearer tokens, which a closure refreshes.
final class TokenAuthenticator: Authenticator {
    typealias Refreshing = @Sendable (Token, @escaping @Sendable (Result<Token, any Error>) -> Void) -> Void

    private let refreshing: Refreshing
    private let refreshed = Locked(0)
    private let recognizes: Bool

    /// Creates an authenticator.
    ///
    /// - Parameter recognizes: Whether `isRequest(_:authenticatedWith:)` can return `true`.
    init(recognizes: Bool = true, _ refreshing: @escaping Refreshing) {
        self.recognizes = recognizes
        self.refreshing = refreshing
    }

    /// The number of refreshes.
    var refreshCount: Int { refreshed.withLock { $0 } }

    func apply(_ credential: Token, to urlRequest: inout URLRequest) {
        urlRequest.headers.update(.authorization(bearerToken: credential.text))
    }

    func refresh(
        _ credential: Token, for session: Session, completion: @escaping @Sendable (Result<Token, any Error>) -> Void
    ) {
        refreshed.withLock { $0 += 1 }
        refreshing(credential, completion)
    }

    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool {
        response.statusCode == 401
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
        recognizes && urlRequest.headers["Authorization"] == "Bearer \(credential.text)"
    }
}

/// A credential whose deallocation can be observed.
final class Ticket: AuthenticationCredential, Sendable {
    let requiresRefresh = false
    private let probe: DeinitProbe?

    init(probe: DeinitProbe? = nil) { self.probe = probe }
}

/// An authenticator that never completes a refresh.
final class TicketOffice: Authenticator {
    let requested = Deferred<Void>()

    func apply(_ credential: Ticket, to urlRequest: inout URLRequest) {}

    func refresh(
        _ credential: Ticket, for session: Session, completion: @escaping @Sendable (Result<Ticket, any Error>) -> Void
    ) {
        requested.fulfill(())
    }

    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool {
        response.statusCode == 401
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Ticket) -> Bool { true }
}
