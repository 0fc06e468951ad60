import AfarCurl
import AfarHTTP
import AfarTransport
import Foundation
import TestServers
import Testing

/// What the tests of transports use of one.
protocol TestableTransport: CallbackTransport, AnyObject {
    var taskExecutor: any TaskExecutor { get throws }
}

extension CurlTransport: TestableTransport {}
extension HTTPTransport: TestableTransport {}

/// The settings that the transports have in common.
protocol TestableConfiguration {
    var maximumConnectionsPerHost: Int { get set }
    var maximumIdleConnections: Int { get set }
    var maximumIdleTime: TimeInterval { get set }
    var maximumThreads: Int { get set }
    var maximumLookups: Int { get set }
    var certificateBundle: URL? { get set }
}

extension CurlTransport.Configuration: TestableConfiguration {}
extension HTTPTransport.Configuration: TestableConfiguration {}

/// Makes the transport that the current test runs over.
func makeTransport(_ change: (inout any TestableConfiguration) -> Void = { _ in }) -> any TestableTransport {
    var configuration: any TestableConfiguration =
        switch TestedTransport.current {
        case .curl: CurlTransport.Configuration()
        case .http: HTTPTransport.Configuration()
        }
    change(&configuration)
    return switch configuration {
    case let configuration as HTTPTransport.Configuration: HTTPTransport(configuration: configuration)
    case let configuration as CurlTransport.Configuration: CurlTransport(configuration: configuration)
    default: CurlTransport()
    }
}
