import AfarTransport
import Foundation

/// Stores the token of one user at one authorization server.
///
/// A refresh token can often be used only once. Therefore, ``update(_:)`` must run one closure at a time, in all processes that share the
/// store. All methods can be called from any thread.
public protocol OAuthTokenStore: Sendable {
    /// Returns the stored token, or nil if none is stored.
    func load() async throws -> OAuthToken?

    /// Replaces the token with the result of a closure, which can take as long as a request.
    ///
    /// - Parameter change: Receives the stored token and returns the new one. If it returns nil, the stored token is removed. If it
    ///   throws, the store isn't changed.
    /// - Returns: The new token.
    /// - Throws: The closure's error, or the store's.
    @discardableResult
    func update(_ change: @Sendable (OAuthToken?) async throws -> OAuthToken?) async throws -> OAuthToken?
}

/// Stores a token in memory.
public final class OAuthMemoryTokenStore: OAuthTokenStore {
    private let token: Locked<OAuthToken?>
    private let lock = AsyncLock()

    /// Creates a store.
    ///
    /// - Parameter token: The first token. The default is nil.
    public init(_ token: OAuthToken? = nil) { self.token = Locked(token) }

    /// Returns the stored token, or nil if none is stored.
    public func load() -> OAuthToken? { token.withLock { $0 } }

    /// Replaces the token. A second call waits until the first has ended.
    ///
    /// - Throws: The closure's error, or `CancellationError` if the task is canceled while it waits.
    @discardableResult
    public func update(_ change: @Sendable (OAuthToken?) async throws -> OAuthToken?) async throws -> OAuthToken? {
        try await lock.acquire()
        defer { lock.release() }
        let new = try await change(load())
        token.withLock { $0 = new }
        return new
    }
}

/// A lock for tasks. Tasks acquire it in the order of their calls.
final class AsyncLock: Sendable {
    private struct State {
        var isLocked = false
        var lastID = 0
        var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Locked(State())

    /// - Throws: `CancellationError` if the task is canceled while it waits.
    func acquire() async throws(CancellationError) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let isAcquired = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state -> Bool? in
                    // If the task is canceled after this check, `onCancel` waits for the state's lock and then finds the
                    // waiter.
                    if Task.isCancelled { return false }
                    guard state.isLocked else {
                        state.isLocked = true
                        return true
                    }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
        guard isAcquired else { throw CancellationError() }
    }

    func release() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiters.isEmpty else {
                state.isLocked = false
                return nil
            }
            return state.waiters.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
