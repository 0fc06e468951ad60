public import Foundation

extension AuthenticationInterceptor {
    /// How many refreshes are allowed in how much time.
    public struct RefreshWindow: Sendable {
        /// How far the window reaches back from now, in seconds.
        public let interval: TimeInterval
        /// How often a credential may be refreshed in that time.
        public let maximumAttempts: Int

        /// Makes a window.
        ///
        /// - Parameters:
        ///   - interval: How far it reaches back, in seconds. The default is 30.
        ///   - maximumAttempts: How often a credential may be refreshed in that time. The default is 5.
        public init(interval: TimeInterval = 30, maximumAttempts: Int = 5) {
            self.interval = interval
            self.maximumAttempts = maximumAttempts
        }
    }
}
