import Afar
import Foundation

/// Makes requests that authenticate by Negotiate, and prints the status and the body of each. It is a process of its own,
/// since Kerberos takes its configuration and its ticket from the environment.
///
/// Arguments: `ticket` for the ticket that the environment has or `none` for no credential, then the URLs.
@main
struct AuthenticationProbe {
    static func main() async {
        let session = Session(configuration: SessionConfiguration.default, transport: CurlTransport())
        for url in CommandLine.arguments.dropFirst(2) {
            let request = session.request(url, method: .post, parameters: ["a": "b"])
            if CommandLine.arguments[1] == "ticket" { request.authenticate(username: "", password: "") }
            let text = await request.serializingString().response
            let status = text.response?.statusCode ?? 0
            let user = text.response?.headers["X-User"] ?? ""
            FileHandle.standardOutput.write(Data("\(status) \(user.isEmpty ? "nobody" : user)\n".utf8))
        }
    }
}
