import AfarTestServer
import Foundation
import TestServers

/// OpenSSL's server: it ends the handshake of a client that shows no certificate, and tells of those that it has seen.
final class DemandingServer {
    let url: URL
    private let log = FileManager.default.temporaryDirectory.appending(path: "demanding-\(UUID().uuidString).txt")
    private let server: ChildProcess

    /// - Parameter version: OpenSSL's option for the only version of TLS.
    init(_ certificates: TestCertificates, _ version: String) async throws {
        // The port is given back just before the server takes it, so that another may be faster.
        for _ in 0..<5 {
            let port = try ClosedPort().number
            let server = try ChildProcess(
                [
                    "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-www", version, "-Verify", "2",
                    "-verify_return_error", "-CAfile", certificates.authority.path,
                    "-cert", certificates.file("good.crt").path, "-key", certificates.file("good.key").path,
                ], output: log)
            while server.isRunning {
                if server.said.contains("ACCEPT"), let url = URL(string: "https://localhost:\(port)/") {
                    (self.server, self.url) = (server, url)
                    return
                }
                await Task.yield()
            }
        }
        throw POSIXError(.EADDRINUSE)
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
