import Afar
import AfarCore
import Foundation
import Testing

/// Digest authentication with Apache, over each transport.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ApacheDigestTests {
    private let apache: Apache
    private let sessions = transports.map { Session(transport: $0()) }

    init() throws {
        let hash = try ServerProcess.run("/usr/bin/openssl", ["dgst", "-md5", "-r"], input: "ada:Afar:love\"lace\\é")
        apache = try Apache(digestUsers: "ada:Afar:\(hash.prefix { $0 != " " })\n")
    }

    static let transports: [@Sendable () -> any Transport] = [{ CurlTransport() }, { URLSessionTransport() }]

    private func request(
        _ path: String, over session: Session, method: HTTPMethod = .get, password: String = "love\"lace\\é"
    ) -> DataRequest {
        session.request(apache.url.absoluteString + path, method: method)
            .authenticate(username: "ada", password: password)
    }

    @Test(arguments: 0..<transports.count, ["digest/page", "digest/page?q=a%20b&c=%22d%22,e='f'", "digest//page?"])
    func theCorrectPasswordIsAccepted(transport: Int, path: String) async throws {
        let request = request(path, over: sessions[transport])
        #expect(try await request.validate().serializingString().value == "digest\n")
        #expect(request.response?.headers["X-User"] == "ada")
        // Apache proves that it has the password, too.
        #expect(request.response?.headers["Authentication-Info"]?.contains("rspauth") == true)
    }

    /// Foundation on Linux modifies such a path before sending it.
    @Test func aPathWithDotsIsHashedAsSent() async throws {
        let request = request("digest/./page", over: sessions[0])
        #expect(try await request.validate().serializingString().value == "digest\n")
    }

    @Test(arguments: 0..<transports.count)
    func aPOSTIsAuthenticated(transport: Int) async throws {
        let request = sessions[transport].upload(
            Data(repeating: 7, count: 300_000), to: apache.url.appending(path: "digest/page")
        ).authenticate(username: "ada", password: "love\"lace\\é")
        _ = await request.serializingData().response
        #expect([200, 405].contains(request.response?.statusCode))
        #expect(request.response?.headers["X-User"] == "ada")
    }

    @Test(arguments: 0..<transports.count)
    func aWrongPasswordIsTriedOnce(transport: Int) async throws {
        let request = request("digest/page", over: sessions[transport], password: "wrong")
        let body = try await request.serializingString().value
        #expect(request.response?.statusCode == 401)
        #expect(body.contains("Unauthorized"))
    }

    @Test func concurrentRequestsOverOneSession() async throws {
        let session = Session(transport: CurlTransport())
        let url = apache.url.appending(path: "digest/page")
        let count = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let request = session.request(url).authenticate(username: "ada", password: "love\"lace\\é")
                    return await request.validate().serializingString().response.value == "digest\n" ? 1 : 0
                }
            }
            return await group.reduce(0, +)
        }
        #expect(count == 50)
    }
}
