import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Digest features that Apache doesn't support: SHA-256, sessions and body hashes. The server computes hashes with
/// OpenSSL.
@Suite(.serialized, .timeLimit(.minutes(2))) struct DigestServerTests {
    private let sessions = ApacheDigestTests.transports.map { Session(transport: $0()) }

    private static func hash(_ text: String, _ algorithm: String) throws -> String {
        let option = algorithm.hasPrefix("SHA") ? "-sha256" : "-md5"
        return String(
            try ServerProcess.run("/usr/bin/openssl", ["dgst", option, "-r"], input: text).prefix { $0 != " " })
    }

    /// Parses the parameters of an `Authorization` header. Their values must not contain commas or quotation marks.
    private static func parameters(of header: String) -> [String: String] {
        let pairs = header.dropFirst("Digest ".count).split(separator: ",").compactMap { part -> (String, String)? in
            let words = part.split(separator: "=", maxSplits: 1)
            guard words.count == 2 else { return nil }
            return (words[0].trimmingCharacters(in: .whitespaces), words[1].trimmingCharacters(in: ["\"", " "]))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Returns whether a request contains the correct response (RFC 7616, section 3.4.1).
    private static func accepts(_ request: ServerRequest, _ algorithm: String, _ qop: String) throws -> Bool {
        let given = parameters(of: request.headers["Authorization"] ?? "")
        let cnonce = given["cnonce"] ?? ""
        guard given["uri"] == request.target, given["qop"] == qop, given["nc"] == "00000001", given["opaque"] == "o",
            given["username"] == (try hash("ada:Afar", algorithm)), given["userhash"] == "true"
        else { return false }
        var secret = try hash("ada:Afar:lovelace", algorithm)
        if algorithm.hasSuffix("-sess") { secret = try hash("\(secret):n:\(cnonce)", algorithm) }
        var covered = "\(request.method):\(request.target)"
        if qop == "auth-int" { covered += ":" + (try hash(request.text ?? "", algorithm)) }
        let proof = try hash("\(secret):n:00000001:\(cnonce):\(qop):\(hash(covered, algorithm))", algorithm)
        return given["response"] == proof
    }

    @Test(
        arguments: 0..<ApacheDigestTests.transports.count, ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess"])
    func eachAlgorithmIsSupported(transport: Int, algorithm: String) async throws {
        for qop in ["auth", "auth-int"] {
            let server = try await TestServer.start()
            server.route("/locked") { request in
                guard try Self.accepts(request, algorithm, qop) else {
                    return .text("who?", status: 401).adding(
                        "WWW-Authenticate",
                        #"Digest realm="Afar", nonce="n", opaque="o", qop="\#(qop)", algorithm=\#(algorithm), userhash=true"#
                    )
                }
                return .text("in")
            }
            let request = sessions[transport].request(
                server.url("/locked?a=b%20c"), method: .post, parameters: ["text": "body"]
            ).authenticate(username: "ada", password: "lovelace")
            #expect(try await request.validate().serializingString().value == "in")
            #expect(server.requestCount == 2)
            await server.stop()
        }
    }
}
