public import Foundation

extension RetryPolicy {
    /// How the delays before retries vary, so that clients that failed together do not come back together.
    public struct Jitter: Sendable {
        let vary: @Sendable (TimeInterval) -> TimeInterval

        /// Makes a rule of one's own.
        ///
        /// - Parameter vary: Makes the delay to wait from the one that the policy has computed, both in seconds. It is
        ///   called on an unspecified thread.
        @preconcurrency
        public init(_ vary: @escaping @Sendable (_ delay: TimeInterval) -> TimeInterval) {
            self.vary = vary
        }

        /// The delays stay as they are.
        public static let none = Jitter { $0 }
        /// Each delay is a random one between none and the whole.
        public static let full = Jitter { $0 > 0 ? .random(in: 0...min($0, .greatestFiniteMagnitude)) : 0 }
    }
}
