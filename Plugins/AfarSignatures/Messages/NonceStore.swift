#if StructuredFields
    import Foundation
    import AfarTransport

    /// Stores the nonces of accepted signatures, so that a signature can't be used twice.
    ///
    /// A nonce is stored until its signature is too old to be accepted. If the store is full, further signatures are refused. Share one store
    /// between the verifiers of a process. It can be used from any thread.
    public final class NonceStore: Sendable {
        private struct State {
            var expirations: [String: Int64] = [:]
            var nextCleanup: Int64 = 0
        }

        private let state = Locked(State())
        private let capacity: Int

        /// Creates a store.
        ///
        /// - Parameter capacity: The maximum number of nonces. The default is 100,000.
        public init(capacity: Int = 100_000) { self.capacity = max(1, capacity) }

        /// Stores a nonce.
        ///
        /// - Parameters:
        ///   - nonce: The nonce.
        ///   - expiration: The time until which the nonce is stored, in seconds since 1970.
        ///   - now: The current time.
        /// - Throws: ``MessageSignatureError`` if the nonce has been used, or the store is full.
        func insert(_ nonce: String, until expiration: Int64, now: Int64) throws(MessageSignatureError) {
            let problem = state.withLock { state -> String? in
                if let known = state.expirations[nonce], known >= now { return "its nonce has been used before" }
                if state.expirations.count >= capacity, now >= state.nextCleanup {
                    state.expirations = state.expirations.filter { $0.value >= now }
                    // Without a pause, a full store would be searched for each signature.
                    state.nextCleanup = state.expirations.count >= capacity ? now + 1 : now
                }
                guard state.expirations.count < capacity else { return "the store of nonces is full" }
                state.expirations[nonce] = expiration
                return nil
            }
            if let problem { throw MessageSignatureError(problem) }
        }
    }
#endif
