#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLSessionConfiguration: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    /// A new `URLSessionConfiguration.default` with the default headers for requests. See ``HTTPHeaders/default``.
    public static var `default`: URLSessionConfiguration { withDefaultHeaders(.default) }

    /// A new `URLSessionConfiguration.ephemeral` with the default headers for requests. See ``HTTPHeaders/default``.
    public static var ephemeral: URLSessionConfiguration { withDefaultHeaders(.ephemeral) }

    private static func withDefaultHeaders(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.headers = .default
        return configuration
    }
}
