import Afar
import Foundation

/// Makes requests with Negotiate authentication, and prints the status and the body of each response. It is a separate
/// process, because Kerberos reads its configuration and its ticket from the environment.
///
/// Arguments: `ticket` to use the ticket in the environment, or `none` for no credential, followed by the URLs.
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
