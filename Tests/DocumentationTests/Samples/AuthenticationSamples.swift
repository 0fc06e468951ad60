import Afar
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

enum AuthenticationSamples {
    static func headers() -> [HTTPHeaders] {
        let headers: HTTPHeaders = [.authorization(username: "ada", password: "s3cret")]
        let token: HTTPHeaders = [.authorization(bearerToken: "s3cret")]
        return [headers, token]
    }

    static func netrc() throws -> Session {
        let session = Session(interceptor: try NetrcInterceptor())
        return session
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

    struct SignatureScheme: AuthenticationScheme {
        /// HMAC-SHA256 in hexadecimal digits, for example from swift-crypto.
        let sign: @Sendable (_ text: String, _ key: String) -> String

        func accepts(_ challenge: AuthenticationChallenge) -> Bool {
            challenge.scheme == "hmac" && challenge.parameters["nonce"] != nil
        }

        func answer(
            _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
        ) throws {
            let text =
                "\(exchange.request.method) \(exchange.request.path ?? "/") \(challenge.parameters["nonce"] ?? "")"
            exchange.request.headerFields[.authorization] =
                "HMAC user=\"\(user)\", signature=\"\(sign(text, password))\""
        }
    }

    static func scheme(_ hmac: @escaping @Sendable (_ text: String, _ key: String) -> String) -> SessionConfiguration {
        var configuration = SessionConfiguration.default
        configuration.authenticationSchemes = [SignatureScheme(sign: hmac), StandardAuthentication.digestWithSHA256]
        return configuration
    }

    static func ticket() -> DataRequest {
        let report = AF.request("https://intranet.example.com/report").authenticate(username: "", password: "")
        return report
    }
}
