import Afar
import AfarTestServer
import Foundation
import TestServers
import Testing

@testable import AfarOAuth

/// Keys and DPoP.
@Suite(.timeLimit(.minutes(5)))
struct DPoPTests {
    private static func verify(_ token: String, publicPEM: String, isRSA: Bool = false) throws -> Bool {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { return false }
        let folder = try TestFolder()
        let (key, signature, input) = (
            folder.url.appending(path: "key"), folder.url.appending(path: "sig"), folder.url.appending(path: "in")
        )
        try Data(publicPEM.utf8).write(to: key)
        let raw = try #require(Data(base64URL: String(parts[2])))
        try (isRSA ? raw : der(raw)).write(to: signature)
        try Data("\(parts[0]).\(parts[1])".utf8).write(to: input)
        return TestKeys.run("dgst", "-sha256", "-verify", key.path, "-signature", signature.path, input.path)
            .contains("Verified OK")
    }

    /// Converts r and s to DER.
    private static func der(_ raw: Data) -> Data {
        func number(_ bytes: Data) -> Data {
            var bytes = Data(bytes.drop { $0 == 0 })
            if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: bytes.startIndex) }
            return Data([2, UInt8(bytes.count)]) + bytes
        }
        let numbers = number(raw.prefix(32)) + number(raw.suffix(32))
        return Data([0x30, UInt8(numbers.count)]) + numbers
    }

    @Test func signaturesAreValid() throws {
        // Some numbers of a signature are shorter than 32 bytes.
        let key = try SignatureKey(privateKeyPEM: TestKeys.p256, algorithm: .ecdsaP256SHA256)
        let publicPEM = try key.publicKeyPEM()
        #expect(key.jwsAlgorithm == "ES256")
        for index in 0..<20 {
            let token = try key.token(header: [:], claims: ["n": "\(index)"], times: [:])
            #expect(try Self.verify(token, publicPEM: publicPEM))
            #expect(
                try !Self.verify(
                    token.replacing("eyJhbGciOiJFUzI1NiJ9", with: "eyJhbGciOiJub25lIn0"), publicPEM: publicPEM))
        }
        for _ in 0..<2_000 { #expect(try key.signature(for: Data("a".utf8)).count == 64) }
        let rsa = try SignatureKey(privateKeyPEM: TestKeys.rsa, algorithm: .rsaPKCS1SHA256)
        #expect(rsa.jwsAlgorithm == "RS256")
        let token = try rsa.token(header: [:], claims: [:], times: ["iat": Date()])
        #expect(try Self.verify(token, publicPEM: rsa.publicKeyPEM(), isRSA: true))
    }

    /// The example of RFC 7638, section 3.1.
    @Test func theThumbprintIsThatOfTheRFC() throws {
        struct Example: OAuthSigner {
            let jwsAlgorithm = "RS256"

            func publicJWK() -> [String: String] {
                [
                    "kty": "RSA", "e": "AQAB",
                    "n":
                        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
                ]
            }

            func signature(for data: Data) -> Data { data }
        }
        #expect(try Example().thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test func targetsHaveNoQueryAndNoDefaultPort() throws {
        let targets = [
            "https://API.example:443/a%2Fb?c=d#e": "https://api.example/a%2Fb",
            "https://user:password@api.example": "https://api.example/",
            "http://api.example:80/x": "http://api.example/x", "https://api.example:8443/": "https://api.example:8443/",
            "https://[::1]:443/a": "https://[::1]/a", "wss://api.example:443/chat": "https://api.example/chat",
        ]
        for (url, target) in targets { #expect(try OAuthDPoP.target(of: try #require(URL(string: url))) == target) }
    }

    /// An authorization and resource server that requires nonces.
    private final class NonceServer: Sendable {
        let server: TestServer
        let proofs = Locked<[(path: String, proof: Proof)]>([])
        let nonces: Locked<[String]>

        init(nonces: [String]) async throws {
            server = try await TestServer.start()
            self.nonces = Locked(nonces)
            server.route("/token") { [proofs, nonces = self.nonces] request in
                let proof = try Proof(request.headers["DPoP"] ?? "")
                proofs.withLock { $0.append((request.path, proof)) }
                let nonce = nonces.withLock { $0.first ?? "" }
                guard proof.claims.nonce == nonce else {
                    return try .json(["error": "use_dpop_nonce"], status: 400).adding("DPoP-Nonce", nonce)
                }
                return try .json(["access_token": "bound", "token_type": "DPoP", "refresh_token": "r"])
            }
            server.route("/resource") { [proofs, nonces = self.nonces] request in
                let proof = try Proof(request.headers["DPoP"] ?? "")
                proofs.withLock { $0.append((request.path, proof)) }
                let (nonce, next) = nonces.withLock { nonces in
                    let isRight = proof.claims.nonce == nonces.first
                    if isRight, nonces.count > 1 { nonces.removeFirst() }
                    return (isRight, nonces.first ?? "")
                }
                guard nonce else {
                    return ServerResponse(
                        status: 401,
                        headers: ["WWW-Authenticate": "DPoP error=\"use_dpop_nonce\"", "DPoP-Nonce": next])
                }
                return try .json(["authorization": request.headers["Authorization"] ?? ""]).adding("DPoP-Nonce", next)
            }
        }
    }

    private struct Proof: Sendable {
        struct Header: Decodable {
            let typ: String
            let alg: String
            let jwk: [String: String]
        }

        struct Claims: Decodable {
            let jti: String
            let htm: String
            let htu: String
            let iat: Int
            let ath: String?
            let nonce: String?
        }

        let header: Header
        let claims: Claims

        init(_ text: String) throws {
            let parts = text.split(separator: ".").map { Data(base64URL: String($0)) ?? Data() }
            guard parts.count == 3 else { throw URLError(.cannotParseResponse) }
            header = try JSONDecoder().decode(Header.self, from: parts[0])
            claims = try JSONDecoder().decode(Claims.self, from: parts[1])
        }
    }

    /// Returns the URL of the server's resource and an interceptor for its requests.
    private func resource(of server: NonceServer, _ dpop: OAuthDPoP, _ session: Session) -> (URL, OAuthInterceptor) {
        let client = OAuthClient(
            id: "client", server: OAuthServer(tokenEndpoint: server.server.url("/token")),
            authentication: .post(secret: "secret"), dpop: dpop, session: session)
        let resource = server.server.url("/resource?page=1")
        return (resource, OAuthInterceptor(client: client, renewal: .clientCredentials(), origins: [resource]))
    }

    @Test func proofsHaveTheNoncesOfTheServer() async throws {
        let server = try await NonceServer(nonces: ["n1", "n2", "n3"])
        let session = Session()
        let dpop = OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256))
        let (resource, interceptor) = resource(of: server, dpop, session)
        for _ in 0..<3 {
            let value = try await session.request(resource, interceptor: interceptor).validate()
                .serializingDecodable([String: String].self).value
            #expect(value["authorization"] == "DPoP bound")
        }
        let proofs = server.proofs.withLock { $0 }
        // The token endpoint demands the first nonce. The resource has the same origin, and announces the other nonces.
        #expect(proofs.map(\.path) == ["/token", "/token", "/resource", "/resource", "/resource"])
        #expect(proofs.map(\.proof.claims.nonce) == [nil, "n1", "n1", "n2", "n3"])
        #expect(Set(proofs.map(\.proof.claims.jti)).count == 5)
        let jwk = try dpop.key.publicJWK()
        #expect(proofs.allSatisfy { $0.proof.header.typ == "dpop+jwt" && $0.proof.header.jwk == jwk })
        #expect(proofs[0].proof.claims.htm == "POST")
        #expect(proofs[0].proof.claims.ath == nil)
        #expect(proofs[2].proof.claims.htm == "GET")
        #expect(proofs[2].proof.claims.htu == server.server.url("/resource").absoluteString)
        #expect(proofs[2].proof.claims.ath == (try sha256("bound").base64URLEncoded))
        await server.server.stop()
    }

    /// A program with its own HTTP client adds the token and the proof to its requests.
    @Test func aProofIsMadeForAnotherConnection() async throws {
        let server = try await NonceServer(nonces: ["n1", "n2"])
        let session = Session()
        let dpop = OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256))
        let (resource, interceptor) = resource(of: server, dpop, session)
        let token = try await interceptor.validToken()
        for _ in 0..<2 {
            let proof = try dpop.proof(for: token, method: "POST", url: resource)
            let response = await session.request(
                resource, method: .post, headers: ["Authorization": "DPoP \(token.accessToken)", "DPoP": proof]
            ).serializingData().response
            dpop.receive(nonce: response.response?.headers["DPoP-Nonce"], from: resource)
        }
        let proofs = server.proofs.withLock { $0 }.filter { $0.path == "/resource" }.map(\.proof)
        #expect(proofs.map(\.claims.nonce) == ["n1", "n2"])
        #expect(proofs.allSatisfy { $0.claims.htm == "POST" })
        #expect(proofs.first?.claims.htu == server.server.url("/resource").absoluteString)
        #expect(proofs.first?.claims.ath == (try sha256(token.accessToken).base64URLEncoded))
        await server.server.stop()
    }

    /// A signer whose public key has other members, such as the private one.
    private struct TalkativeSigner: OAuthSigner {
        let key: SignatureKey
        var changes: [String: String?] = [:]
        var jwsAlgorithm: String { key.jwsAlgorithm }

        func publicJWK() throws -> [String: String] {
            changes.reduce(into: try key.publicJWK()) { $0[$1.key] = $1.value }
        }
        func signature(for data: Data) throws -> Data { try key.signature(for: data) }
    }

    @Test func onlyRequiredMembersOfAKeyAreSent() throws {
        let key = try SignatureKey.generate(.ecdsaP256SHA256)
        let signer = TalkativeSigner(key: key, changes: ["d": "the-private-key", "kid": "1", "use": "sig"])
        let url = try #require(URL(string: "https://api.example/"))
        let proof = try OAuthDPoP(key: signer).proof(for: OAuthToken(accessToken: "a"), method: "GET", url: url)
        #expect(try Proof(proof).header.jwk == key.publicJWK())
        #expect(try signer.thumbprint == key.thumbprint)
        for changes in [["kty": "oct"], ["kty": nil], ["x": nil]] as [[String: String?]] {
            #expect(throws: OAuthError.self) { _ = try TalkativeSigner(key: key, changes: changes).thumbprint }
        }
    }

    @Test func aResourceCanRequireANewNonce() async throws {
        let server = try await NonceServer(nonces: ["n1"])
        let session = Session()
        let client = OAuthClient(
            id: "client", server: OAuthServer(tokenEndpoint: server.server.url("/token")),
            authentication: .post(secret: "secret"), dpop: OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256)),
            session: session)
        let resource = server.server.url("/resource")
        let interceptor = OAuthInterceptor(client: client, renewal: .clientCredentials(), origins: [resource])
        _ = try await session.request(resource, interceptor: interceptor).validate().serializingData().value
        server.nonces.withLock { $0 = ["other"] }
        let request = session.request(resource, interceptor: interceptor).validate()
        _ = try await request.serializingData().value
        #expect(request.retryCount == 1)
        // The token isn't renewed for a nonce.
        #expect(server.server.requestCount(path: "/token") == 2)
        await server.server.stop()
    }

    @Test func noncesAreRetriedOnce() async throws {
        let server = try await TestServer.start()
        let count = Locked(0)
        let next: @Sendable () -> String = {
            count.withLock { count in
                count += 1; return "n\(count)"
            }
        }
        server.route("/token") { _ in
            try .json(["error": "use_dpop_nonce"], status: 400).adding("DPoP-Nonce", next())
        }
        server.route("/resource") { _ in
            ServerResponse(
                status: 401, headers: ["WWW-Authenticate": "DPoP error=\"use_dpop_nonce\"", "DPoP-Nonce": next()])
        }
        let session = Session()
        let client = OAuthClient(
            id: "client", server: OAuthServer(tokenEndpoint: server.url("/token")),
            authentication: .post(secret: "secret"), dpop: OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256)),
            session: session)
        await expect(refusedWith: .useDPoPNonce) { _ = try await client.clientCredentials() }
        #expect(server.requestCount(path: "/token") == 2)
        let store = OAuthMemoryTokenStore(OAuthToken(accessToken: "bound", type: "DPoP"))
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [server.url("/")])
        let response = await session.request(server.url("/resource"), interceptor: interceptor).validate()
            .serializingData().response
        #expect(response.response?.statusCode == 401)
        #expect(server.requestCount(path: "/resource") == 2)
        #expect(server.requestCount(path: "/token") == 2)
        await server.stop()
    }

    @Test func aTokenMustBeBoundToTheKey() async throws {
        let server = try await TestServer.start()
        server.route("/token") { _ in try .json(["access_token": "a", "token_type": "Bearer"]) }
        let client = OAuthClient(
            id: "client", server: OAuthServer(tokenEndpoint: server.url("/token")),
            authentication: .post(secret: "secret"), dpop: OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256)),
            session: Session())
        await #expect(throws: OAuthError.self) { _ = try await client.clientCredentials() }
        await server.stop()
    }

    @Test func invalidNoncesAreIgnored() throws {
        let dpop = OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256))
        let url = try #require(URL(string: "https://api.example/a"))
        for nonce in ["", "a\"b", "a b", "ä", String(repeating: "n", count: 2_000), "a\\b"] {
            dpop.receive(nonce: nonce, from: url)
            #expect(dpop.nonce(for: url) == nil)
        }
        dpop.receive(nonce: "good", from: url)
        #expect(dpop.nonce(for: try #require(URL(string: "https://api.example:443/b?c"))) == "good")
        #expect(dpop.nonce(for: try #require(URL(string: "http://api.example/a"))) == nil)
    }
}

extension Data {
    /// Decodes base64url.
    fileprivate init?(base64URL text: String) {
        let text = text.replacing("-", with: "+").replacing("_", with: "/")
        self.init(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }
}
