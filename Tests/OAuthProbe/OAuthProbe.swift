import Afar
import AfarOAuth
import Foundation

/// Requests a resource with the token of a file, and prints the access token that it used.
///
/// The arguments are the file, the token endpoint, the client's identifier, and the URL of the resource.
@main
struct OAuthProbe {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 4, let endpoint = URL(string: arguments[1]), let resource = URL(string: arguments[3])
        else { exit(2) }
        let session = Session()
        let client = OAuthClient(id: arguments[2], server: OAuthServer(tokenEndpoint: endpoint), session: session)
        let store = OAuthFileTokenStore(URL(filePath: arguments[0]))
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [resource]) { print("failed \($0)") }
        let response = await session.request(resource, interceptor: interceptor).validate().serializingData().response
        switch response.result {
        case .success: print("used \(interceptor.token?.accessToken ?? "none")")
        case .failure(let error):
            print("failed \(error)")
            exit(1)
        }
    }
}
