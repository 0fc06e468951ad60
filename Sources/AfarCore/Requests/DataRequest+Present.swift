package import AfarTransport
package import Foundation

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

extension DataRequest {
    /// Puts a request that is not started into the state that it would have after an attempt, for who tests what looks at it.
    package func present(
        _ urlRequest: URLRequest, head: ResponseHead?, data: Data?, retryCount: Int, error: AFError?
    ) {
        mutable.withLock { state in
            state.history.requests = [urlRequest]
            state.attempt.head = head
            state.history.retryCount = retryCount
            state.attempt.failure = error
        }
        memory.data = data
    }
}
