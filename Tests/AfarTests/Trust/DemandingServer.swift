import Foundation
import TestServers
import Testing

/// OpenSSL's server: it ends the handshake of a client that shows no certificate, and tells of those that it has seen.
final class DemandingServer {
    let url: URL
    private let log = FileManager.default.temporaryDirectory.appending(path: "demanding-\(UUID().uuidString).txt")
    private let port: ReservedPort
    private let server: ChildProcess

    /// - Parameter version: OpenSSL's option for the only version of TLS.
    init(_ certificates: TestCertificates, _ version: String) async throws {
        port = try ReservedPort()
        url = try #require(URL(string: "https://localhost:\(port.number)/"))
        server = try ChildProcess(
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port.number)", "-www", version, "-Verify", "2",
                "-verify_return_error", "-CAfile", certificates.authority.path,
                "-cert", certificates.file("good.crt").path, "-key", certificates.file("good.key").path,
            ], output: log)
        try await server.wait { server.said.contains("ACCEPT") }
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: log)
    }

    /// The subjects of the certificates that clients have shown until now.
    var clientsSeen: [String] {
        server.said.split(separator: "\n").filter { $0.hasPrefix("depth=0 ") }
            .map { String($0.dropFirst("depth=0 ".count)) }
    }
}
