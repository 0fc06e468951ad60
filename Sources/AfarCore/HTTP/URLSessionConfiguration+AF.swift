#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLSessionConfiguration {
    /// Foundation's configurations with the headers that every request has unless it says otherwise, see
    /// ``HTTPHeaders/default``. Each use makes a new one.
    public static var af: WithDefaultHeaders { WithDefaultHeaders() }

    /// Makes Foundation's configurations with ``HTTPHeaders/default``.
    public struct WithDefaultHeaders: Sendable {
        /// `URLSessionConfiguration.default` with these headers.
        public var `default`: URLSessionConfiguration { withDefaultHeaders(.default) }
        /// `URLSessionConfiguration.ephemeral` with these headers.
        public var ephemeral: URLSessionConfiguration { withDefaultHeaders(.ephemeral) }

        private func withDefaultHeaders(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
            configuration.headers = .default
            return configuration
        }
    }
}
