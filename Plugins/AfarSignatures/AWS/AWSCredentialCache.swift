import AfarTransport
import Foundation

/// Stores the credentials that a closure returns until they are about to expire. Tasks that wait for credentials share one call of
/// the closure.
final class AWSCredentialCache: Sendable {
    private typealias Waiter = CheckedContinuation<Result<AWSCredentials, any Error>, Never>

    private struct State {
        var credentials: AWSCredentials?
        /// The running call, unless it was canceled.
        var call: (id: Int, task: Task<Void, Never>)?
        var waiters: [Int: Waiter] = [:]
        var lastID = 0
    }

    /// The minimum remaining lifetime of stored credentials, in seconds.
    private static let shortestLifetime: TimeInterval = 300

    private let fetch: @Sendable () async throws -> AWSCredentials
    private let state = Locked(State())

    init(_ fetch: @escaping @Sendable () async throws -> AWSCredentials) { self.fetch = fetch }

    /// - Throws: The closure's error, or `CancellationError` if the calling task is canceled.
    func credentials(at date: Date) async throws -> AWSCredentials {
        let (stored, id) = state.withLock { state in
            state.lastID += 1
            return (state.credentials, state.lastID)
        }
        if let stored, let expiration = stored.expiration, expiration - Self.shortestLifetime > date { return stored }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let isWaiting = state.withLock { state in
                    // A cancellation after this check waits for the lock, and then finds the waiter.
                    if Task.isCancelled { return false }
                    state.waiters[id] = waiter
                    if state.call == nil { state.call = (id, Task { await self.call(id) }) }
                    return true
                }
                if !isWaiting { waiter.resume(returning: .failure(CancellationError())) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                let waiter = state.waiters.removeValue(forKey: id)
                if state.waiters.isEmpty { state.call.take()?.task.cancel() }
                return waiter
            }
            waiter?.resume(returning: .failure(CancellationError()))
        }
        return try result.get()
    }

    private func call(_ id: Int) async {
        let result: Result<AWSCredentials, any Error>
        do { result = .success(try await fetch()) } catch { result = .failure(error) }
        let waiters = state.withLock { state in
            if case .success(let credentials) = result { state.credentials = credentials }
            guard state.call?.id == id else { return [Waiter]() }
            defer { (state.call, state.waiters) = (nil, [:]) }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }
}
