#if StructuredFields
    import AfarTransport

    /// Stores the nonces of accepted signatures, so that a signature can't be used twice.
    ///
    /// A nonce is stored until no verifier of the store accepts its signature anymore. Create all verifiers before you use the store. If
    /// the store is full, further signatures are refused. If the clock is set back, signatures that had expired before are still refused.
    /// Share one store between the verifiers of a process. It can be used from any thread.
    public final class NonceStore: Sendable {
        private struct Use: Hashable {
            let keyID, nonce: String?
        }

        private struct Times {
            let created: Int64
            let expires: Int64?
        }

        private struct State {
            var uses: [Use: Times] = [:]
            /// When the store was last searched without finding enough space.
            var lastSearch: Int64?
            /// The latest time for which nonces were removed. It doesn't decrease if the clock is set back.
            var removalTime = Int64.min
            /// The limits of the most tolerant verifiers, in seconds.
            var age: Int64 = 0
            var tolerance: Int64 = 0

            func isAcceptable(_ times: Times, at now: Int64) -> Bool {
                now <= min(times.created + age, times.expires ?? .max - tolerance) + tolerance
            }
        }

        private let state = Locked(State())
        private let capacity: Int

        /// Creates a store.
        ///
        /// - Parameter capacity: The maximum number of nonces. The default is 100,000.
        public init(capacity: Int = 100_000) { self.capacity = max(1, capacity) }

        /// Stores nonces for at least as long as a verifier's limits require. The limits are in seconds.
        func extend(age: Int64, tolerance: Int64) {
            state.withLock { state in
                state.age = max(state.age, age)
                state.tolerance = max(state.tolerance, tolerance)
            }
        }

        /// Stores the nonces of a message's valid signatures. Don't pass invalid signatures, because anyone could fill the store with them.
        ///
        /// - Throws: ``MessageSignatureError`` if one of the nonces has been used, or the store is full.
        func insert(_ signatures: [SignatureParameters], now: Int64) throws(MessageSignatureError) {
            var uses: [Use: Times] = [:]
            for signature in signatures {
                uses[Use(keyID: signature.keyID, nonce: signature.nonce)] =
                    Times(created: signature.created ?? now, expires: signature.expires)
            }
            let problem = state.withLock { state -> String? in
                // Searches at most once per second. Otherwise, a full store would be searched for each signature.
                if state.uses.count + uses.count > capacity, state.lastSearch != now {
                    let times = state
                    state.uses = state.uses.filter { times.isAcceptable($0.value, at: now) }
                    state.removalTime = max(state.removalTime, now)
                    state.lastSearch = state.uses.count + uses.count > capacity ? now : nil
                }
                guard uses.values.allSatisfy({ state.isAcceptable($0, at: state.removalTime) }) else {
                    return "the clock was set back, and its nonce could have been used before that"
                }
                let isRepeated = uses.keys.contains { use in
                    state.uses[use].map { state.isAcceptable($0, at: now) } ?? false
                }
                guard isRepeated || state.uses.count + uses.count <= capacity else {
                    return "the store of nonces is full"
                }
                // Even if a nonce is repeated, the nonces of the message's other signatures are stored.
                if state.uses.count + uses.count <= capacity { state.uses.merge(uses) { $1 } }
                return isRepeated ? "its nonce has been used before" : nil
            }
            if let problem { throw MessageSignatureError(problem) }
        }
    }
#endif
