import Afar
import AfarEgress
import Foundation

/// Requests URLs one after the other over new connections, and prints the outcome of each request: the body, or the error's code.
///
/// The arguments are the transport, `policy` or `none`, and the URLs. It runs in its own network namespace.
@main
struct EgressProbe {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let (transport, policy, urls) = (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2))
        var configuration = SessionConfiguration.default
        configuration.connectionPolicy = policy == "policy" ? EgressPolicy() : nil
        configuration.network = NetworkSettings()
        configuration.timeoutIntervalForRequest = 30
        let session = Session(
            configuration: configuration, transport: transport == "curl" ? CurlTransport() : HTTPTransport())
        for url in urls {
            let response = await session.request(url).serializingString().response
            let outcome = response.value ?? response.error?.transportError?.code.description ?? "\(response)"
            FileHandle.standardOutput.write(Data("outcome \(outcome)\n".utf8))
            // Also discards addresses of names.
            session.transport.closeIdleConnections()
        }
    }
}
