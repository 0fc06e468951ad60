#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLSessionConfiguration: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    /// `URLSessionConfiguration.default` with the headers that every request has unless it says otherwise, see
    /// ``HTTPHeaders/default``. Each use makes a new one.
    public static var `default`: URLSessionConfiguration { withDefaultHeaders(.default) }

    /// `URLSessionConfiguration.ephemeral` with the headers that every request has unless it says otherwise, see
    /// ``HTTPHeaders/default``. Each use makes a new one.
    public static var ephemeral: URLSessionConfiguration { withDefaultHeaders(.ephemeral) }

    private static func withDefaultHeaders(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.headers = .default
        return configuration
    }
}
