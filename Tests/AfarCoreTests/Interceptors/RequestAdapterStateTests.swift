import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Adapters with a manually created state, as in unit tests of adapters.
struct RequestAdapterStateTests {
    private struct Tagging: AsyncRequestAdapter {
        func adapt(_ urlRequest: URLRequest, for session: Session) async throws -> URLRequest { urlRequest }

        func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState) async throws -> URLRequest {
            await Task.yield()
            var urlRequest = urlRequest
            urlRequest.headers.update(name: "X-Request", value: state.requestID.uuidString)
            return urlRequest
        }
    }

    private let session = Session(transport: MockTransport { _ in .text("ok") })

    private func adapt(using adapter: any RequestAdapter, _ state: RequestAdapterState) async throws -> URLRequest {
        let urlRequest = try URLRequest(url: "http://mock/", method: .get)
        return try await withCheckedThrowingContinuation { continuation in
            adapter.adapt(urlRequest, using: state) { continuation.resume(with: $0) }
        }
    }

    @Test func aStateHasItsInitialValues() {
        let identifier = UUID()
        let state = RequestAdapterState(requestID: identifier, session: session)
        #expect(state.requestID == identifier)
        #expect(state.session === session)
        #expect(state.request == nil)
        let request = session.request("http://mock/")
        #expect(RequestAdapterState(request: request, session: session).requestID == request.id)
        #expect(RequestAdapterState(request: request, session: session).request === request)
    }

    @Test func anAsyncAdapterRequiresNoRequest() async throws {
        let state = RequestAdapterState(requestID: UUID(), session: session)
        let adapted = try await adapt(using: Tagging(), state)
        #expect(adapted.headers["X-Request"] == state.requestID.uuidString)
    }

    @Test func anAuthenticationInterceptorRequiresNoRequest() async throws {
        let authenticator = TokenAuthenticator { _, completion in completion(.success(Token(text: "good"))) }
        let interceptor = AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "expired", requiresRefresh: true))
        let state = RequestAdapterState(requestID: UUID(), session: session)
        let adapted = try await adapt(using: interceptor, state)
        #expect(adapted.headers["Authorization"] == "Bearer good")
        #expect(authenticator.refreshCount == 1)
    }
}
