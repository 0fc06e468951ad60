import Foundation
import TestServers
import Testing

/// OpenSSL's server. It rejects clients without a certificate, and reports the certificates it has received.
final class DemandingServer {
    let url: URL
    private let log = FileManager.default.temporaryDirectory.appending(path: "demanding-\(UUID().uuidString).txt")
    private let port: ReservedPort
    private let server: ChildProcess

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - version: The OpenSSL option that selects the TLS version.
    ///   - options: More options.
    init(_ certificates: TestCertificates, _ version: String, _ options: String...) async throws {
        port = try ReservedPort()
        url = try #require(URL(string: "https://localhost:\(port.number)/"))
        server = try ChildProcess(
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port.number)", "-www", version, "-Verify", "2",
                "-verify_return_error", "-CAfile", certificates.authority.path,
                "-cert", certificates.file("good.crt").path, "-key", certificates.file("good.key").path,
            ] + options, output: log)
        try await server.wait { server.output.contains("ACCEPT") }
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: log)
    }

    /// The subjects of the client certificates received so far.
    var clientsSeen: [String] {
        server.output.split(separator: "\n").filter { $0.hasPrefix("depth=0 ") }
            .map { String($0.dropFirst("depth=0 ".count)) }
    }
}
