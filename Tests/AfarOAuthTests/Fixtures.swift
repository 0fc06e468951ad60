import Afar
import AfarOAuth
import AfarTestServer
import Foundation
import TestServers
import Testing

/// A server that uses authlib, and its endpoints.
struct AuthlibServer {
    /// The private key of the client `keyed`.
    let key: SignatureKey
    let child: ServerChild
    let session = Session()

    /// - Parameters:
    ///   - pem: The key of the client `keyed`, in PEM form.
    ///   - algorithm: The key's algorithm.
    init(key pem: String = TestKeys.p256, algorithm: SignatureAlgorithm = .ecdsaP256SHA256) async throws {
        key = try SignatureKey(privateKeyPEM: pem, algorithm: algorithm)
        let publicKey = try key.publicKeyPEM()
        child = try await ServerChild("authlib", configuration: { _, _ in publicKey }) { folder, port in
            [
                "/usr/bin/python3", "Tests/AfarOAuthTests/authlib-server.py", "\(port)",
                folder.appending(path: "configuration").path,
            ]
        }
    }

    func url(_ path: String) throws -> URL { try #require(URL(string: "http://127.0.0.1:\(child.port)\(path)")) }

    /// Returns a client with the server's metadata.
    func client(
        _ id: String, _ authentication: OAuthClientAuthentication = .none, session: Session? = nil
    ) async throws -> OAuthClient {
        let server = try await OAuthServer.discover(issuer: url(""), session: self.session)
        return OAuthClient(id: id, server: server, authentication: authentication, session: session ?? self.session)
    }

    func confidentialClient(session: Session? = nil) async throws -> OAuthClient {
        try await client("confidential", .basic(secret: "the-secret_of.the~client"), session: session)
    }

    /// Returns a token of a user, with a refresh token.
    func userToken(_ client: OAuthClient, scope: String = "files") async throws -> OAuthToken {
        let redirectURI = try #require(URL(string: "com.example.app:/callback"))
        let authorization = try await client.authorization(redirectURI: redirectURI, scope: scope)
        return try await authorization.token(redirectedTo: browser(authorization.url))
    }

    /// Opens a page like a browser, and returns the URL to which it redirects.
    func browser(_ url: URL) async throws -> URL {
        let response = await session.request(url).redirect(using: .doNotFollow).serializingData().response
        return try #require(response.response?.headers["Location"].flatMap { URL(string: $0) })
    }

    /// Requests a page of the server that controls it.
    @discardableResult
    func control(_ path: String) async throws -> Data {
        try await session.request(url(path)).validate().serializingData(emptyResponseCodes: [200]).value
    }

    /// The number of requests with a refresh token.
    func refreshCount() async throws -> Int {
        try await session.request(url("/counts")).serializingDecodable([String: Int].self).value["refresh"] ?? 0
    }
}

/// A clock whose sleepers don't wait. It records their durations.
final class SkippingClock: Clock, Sendable {
    typealias Instant = ContinuousClock.Instant

    private let skipped = Locked<[Duration]>([])
    private let start = ContinuousClock.now
    private let date = Date()

    var delays: [Duration] { skipped.withLock { $0 } }
    var now: Instant { start + delays.reduce(.zero, +) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        skipped.withLock { durations in durations.append(deadline - (start + durations.reduce(.zero, +))) }
    }

    /// A session whose delays take no time.
    var session: Session {
        var configuration = SessionConfiguration.default
        let date = date
        configuration.timeSource = TimeSource(clock: self) { [self] in date + delays.reduce(.zero, +) / .seconds(1) }
        return Session(configuration: configuration)
    }
}

/// Keys for tests, made by OpenSSL's command.
enum TestKeys {
    static let p256 = run("ecparam", "-name", "prime256v1", "-genkey", "-noout")
    static let otherP256 = run("ecparam", "-name", "prime256v1", "-genkey", "-noout")
    static let rsa = run("genrsa", "2048")
    static let otherRSA = run("genrsa", "2048")

    /// Runs OpenSSL's command and returns its output.
    static func run(_ arguments: String...) -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return "" }
        let data = try? output.fileHandleForReading.readToEnd()
        process.waitUntilExit()
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}

/// A folder for the files of one test.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "afar-oauth-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// Records the requests of a form endpoint, and answers them.
func formMembers(_ request: ServerRequest) -> [String: String] {
    var components = URLComponents()
    components.percentEncodedQuery = request.text?.replacing("+", with: "%20")
    return Dictionary((components.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { first, _ in first }
}

extension OAuthInterceptor {
    /// Creates an interceptor whose store must not fail.
    convenience init(
        client: OAuthClient, store: any OAuthTokenStore, renewal: OAuthRenewal = .refreshToken, origins: [URL]
    ) {
        self.init(client: client, store: store, renewal: renewal, origins: origins) { error in
            Issue.record("\(error)")
        }
    }
}
