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
        /// The host names looked up at once; each look-up takes a thread. The default is 16.
        public var maximumLookups = 16
        /// A file of PEM certificates to trust instead of the system's; nil for the system's.
        public var certificateBundle: URL?

        /// Makes the default configuration.
        public init() {}
    }
}
