import AfarHTTP
import AfarTransport
import Foundation
import HTTPTypes

/// Sends requests to a server, and prints the responses or errors. The arguments are the server's authority and certificate.
@main
struct Client {
    static func main() async throws {
        var configuration = ConnectionConfiguration()
        configuration.certificateBundle = URL(filePath: CommandLine.arguments[2])
        let transport = HTTPTransport(configuration: configuration)
        for version in [ExchangeOptions.HTTPVersion.automatic, .http2] {
            var options = ExchangeOptions()
            options.httpVersion = version
            let request = HTTPRequest(method: .get, scheme: "https", authority: CommandLine.arguments[1], path: "/")
            do {
                let response = try await transport.send(Exchange(request: request, options: options))
                guard case .data(let data) = response.body else { fatalError("The response has no data.") }
                print("\(version): \(String(decoding: data, as: UTF8.self))")
            } catch let error as TransportError {
                print("\(version): \(error.code)")
            }
        }
    }
}
