public import Foundation

extension CurlTransport {
    /// What holds for all exchanges of a transport, because they share its connections.
    public struct Configuration: Sendable {
        /// The connections open at once to one host (scheme, name and port). Further exchanges wait their turn.
        /// The default is 6.
        public var maximumConnectionsPerHost = 6
        /// The connections kept open without use, over all hosts. libcurl counts those in use too, so less than one host
        /// may have makes connections close that are about to be used again. The default is 64.
        public var maximumIdleConnections = 64
        /// How long a connection is kept open without use, in seconds; 0 and less mean not at all. Many servers close theirs
        /// after 5 to 75. The default is 90.
        public var maximumIdleTime: TimeInterval = 90
        /// The threads that drive connections. All connections to one host are one thread's, which makes 20,000 small
        /// requests a second and more; so this helps whoever has several busy hosts. The default is one for each four
        /// cores, one at least.
        public var threads = max(1, ProcessInfo.processInfo.activeProcessorCount / 4)
        /// The host names looked up at once; each look-up takes a thread. The default is 16.
        public var maximumLookups = 16
        /// A file of PEM certificates to trust instead of the system's; nil for the system's.
        public var certificateBundle: URL?

        /// Makes the default configuration.
        public init() {}

        /// Whole seconds, within what libcurl can count.
        var maximumIdleSeconds: Int {
            maximumIdleTime > 0 ? Int(min(maximumIdleTime.rounded(.up), 1_000_000_000)) : 0
        }

        /// What one of the threads is told, so that all together keep to the limits that are not a host's.
        var forOneThread: Self {
            var copy = self
            let threads = max(1, threads)
            copy.maximumIdleConnections = (maximumIdleConnections + threads - 1) / threads
            copy.maximumLookups = (maximumLookups + threads - 1) / threads
            return copy
        }
    }
}
