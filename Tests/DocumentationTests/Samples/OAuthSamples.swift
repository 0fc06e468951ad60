import Afar
import AfarOAuth
import Foundation

/// The samples of Docs/OAuth.md.
enum OAuthSamples {
    static func service(_ issuer: URL, _ api: URL, _ secret: String) async throws -> String {
        let server = try await OAuthServer.discover(issuer: issuer, session: AF)
        let client = OAuthClient(id: "reports", server: server, authentication: .basic(secret: secret), session: AF)
        let interceptor = OAuthInterceptor(
            client: client, renewal: .clientCredentials(scope: "reports.read"), origins: [api])
        let session = Session(interceptor: interceptor)
        let report = try await session.request(api.appending(path: "report")).validate().serializingString().value
        return report
    }

    static func errors(_ client: OAuthClient, _ token: AfarOAuth.OAuthToken) async {
        do {
            let token = try await client.refresh(token)
            print(token)
        } catch .refused(let response) where response.code == .invalidGrant {
            print("sign in again: \(response.description ?? "the refresh token is invalid")")
        } catch {
            print(error.localizedDescription)
        }
    }

    static func app(
        _ client: OAuthClient, _ redirectURI: URL, open: (URL) async throws -> URL
    ) async throws -> AfarOAuth.OAuthToken {
        let authorization = try await client.authorization(redirectURI: redirectURI, scope: "files.read")
        let redirect = try await open(authorization.url)
        let token = try await authorization.token(redirectedTo: redirect)
        return token
    }

    static func tool(_ client: OAuthClient) async throws -> AfarOAuth.OAuthToken {
        let listener = try OAuthLoopbackListener()
        let authorization = try await client.authorization(redirectURI: listener.redirectURI, scope: "files.read")
        print("Open \(authorization.url)")
        let token = try await authorization.token(from: listener)
        return token
    }

    static func device(_ client: OAuthClient) async throws -> AfarOAuth.OAuthToken {
        let authorization = try await client.deviceAuthorization(scope: "files.read")
        print("Open \(authorization.verificationURI) and enter \(authorization.userCode).")
        let token = try await authorization.token()
        return token
    }

    static func key(_ server: OAuthServer, _ pem: String) throws -> OAuthClient {
        let key = try SignatureKey(privateKeyPEM: pem, algorithm: .ecdsaP256SHA256)
        let client = OAuthClient(
            id: "reports", server: server, authentication: .privateKeyJWT(key, keyID: "2026"), session: AF)
        return client
    }

    static func stored(
        _ client: OAuthClient, _ file: URL, _ api: URL,
        signInWithBrowser: (OAuthClient) async throws -> AfarOAuth.OAuthToken
    ) async throws -> Session {
        let store = OAuthFileTokenStore(file)
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [api]) { error in
            print(error.localizedDescription)
        }
        if try store.load() == nil {
            try await interceptor.signIn(with: signInWithBrowser(client))
        }
        let session = Session(interceptor: interceptor)
        return session
    }

    static func bound(
        _ server: OAuthServer, _ api: URL, _ pem: String
    ) throws -> OAuthInterceptor {
        let dpop = OAuthDPoP(key: try SignatureKey(privateKeyPEM: pem, algorithm: .ecdsaP256SHA256))
        let client = OAuthClient(id: "reports", server: server, authentication: .none, dpop: dpop, session: AF)
        let interceptor = OAuthInterceptor(client: client, origins: [api])
        return interceptor
    }

    static func oneSession(_ server: OAuthServer, _ api: URL, _ secret: String) async throws -> String {
        let session = Session()
        let client = OAuthClient(
            id: "reports", server: server, authentication: .basic(secret: secret), session: session)
        let interceptor = OAuthInterceptor(client: client, renewal: .clientCredentials(), origins: [api])
        let report = try await session.request(api, interceptor: interceptor).validate().serializingString().value
        return report
    }

    static func elsewhere(_ interceptor: OAuthInterceptor) async throws -> String {
        let token = try await interceptor.validToken()
        return token.accessToken
    }

    static func proof(
        _ interceptor: OAuthInterceptor, _ dpop: OAuthDPoP, _ url: URL, send: ([String: String]) async throws -> String?
    ) async throws {
        let token = try await interceptor.validToken()
        let fields = try [
            "Authorization": "DPoP \(token.accessToken)", "DPoP": dpop.proof(for: token, method: "GET", url: url),
        ]
        let nonce = try await send(fields)
        dpop.receive(nonce: nonce, from: url)
    }

    static func pending(_ client: OAuthClient, _ redirectURI: URL, store: (Data) async throws -> Void) async throws {
        let authorization = try await client.authorization(redirectURI: redirectURI, scope: "files.read")
        try await store(JSONEncoder().encode(authorization.pending))
    }

    static func resumed(_ client: OAuthClient, _ data: Data, _ redirect: URL) async throws -> AfarOAuth.OAuthToken {
        let pending = try JSONDecoder().decode(OAuthPendingAuthorization.self, from: data)
        let token = try await client.authorization(resuming: pending).token(redirectedTo: redirect)
        return token
    }

    static func workload(_ server: OAuthServer, _ file: URL) -> OAuthClient {
        let authentication = OAuthClientAuthentication.assertion { try String(contentsOf: file, encoding: .utf8) }
        let client = OAuthClient(id: "reports", server: server, authentication: authentication, session: AF)
        return client
    }
}
