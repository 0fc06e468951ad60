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

/// Creates the transport for the current test run.
func makeTransport(_ change: (inout ConnectionConfiguration) -> Void = { _ in }) -> any TestableTransport {
    var configuration = ConnectionConfiguration()
    change(&configuration)
    return switch TestedTransport.current {
    case .curl: CurlTransport(configuration: configuration)
    case .http: HTTPTransport(configuration: configuration)
    }
}
