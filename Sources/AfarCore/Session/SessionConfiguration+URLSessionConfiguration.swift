#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension SessionConfiguration {
    /// Takes over the timeouts, the headers, the connections per host and whether to wait for a network from Foundation's
    /// configuration.
    public init(_ configuration: URLSessionConfiguration) {
        self.init()
        timeoutIntervalForRequest = configuration.timeoutIntervalForRequest
        timeoutIntervalForResource = configuration.timeoutIntervalForResource
        httpMaximumConnectionsPerHost = configuration.httpMaximumConnectionsPerHost
        waitsForConnectivity = configuration.waitsForConnectivity
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
            if let name = name as? String { headers.update(name: name, value: "\(value)") }
        }
    }
}
