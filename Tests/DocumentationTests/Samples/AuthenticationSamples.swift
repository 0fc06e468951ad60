import Afar
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

enum AuthenticationSamples {
    static func headers() -> [HTTPHeaders] {
        let headers: HTTPHeaders = [.authorization(username: "ada", password: "s3cret")]
        let token: HTTPHeaders = [.authorization(bearerToken: "s3cret")]
        return [headers, token]
    }

    static func credential() async throws {
        let vault = AF.request("https://api.example.com/vault").authenticate(username: "ada", password: "s3cret")
        print(try await vault.validate().serializingString().value)
    }

    struct VaultCredentials: CredentialProvider {
        func credential(for space: URLProtectionSpace) async throws -> URLCredential? {
            guard space.protocol == "https", space.host == "api.example.com" else { return nil }
            return URLCredential(user: "ada", password: "s3cret", persistence: .none)
        }
    }

    static func provider() async throws {
        var configuration = SessionConfiguration.default
        configuration.credentialProvider = VaultCredentials()

        let session = Session(configuration: configuration, transport: AF.transport)
        print("Provided: \(try await session.request("https://api.example.com/vault").serializingString().value)")
    }

    static func ticket() -> DataRequest {
        let report = AF.request("https://intranet.example.com/report").authenticate(username: "", password: "")
        return report
    }
}
