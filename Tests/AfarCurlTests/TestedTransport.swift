import AfarCurl
import AfarHTTP
import AfarTransport
import Foundation
import TestServers
import Testing

/// The interface of the transports under test.
protocol TestableTransport: CallbackTransport, AnyObject {
    var taskExecutor: any TaskExecutor { get throws }
}

extension CurlTransport: TestableTransport {}
extension HTTPTransport: TestableTransport {}

/// The settings that all transports under test support.
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

/// Creates the transport for the current test run.
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
