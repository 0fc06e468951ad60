import Foundation
import TestServers
import Testing

/// An HTTPS test server based on OpenSSL. A private certificate authority is created at startup.
final class TLSServer {
    /// The kind of server certificate.
    enum Certificate {
        case good, expired, future, wrongHost, selfSigned
    }

    struct Failure: Error {
        var output: String
    }

    /// The certificate of the authority.
    let authority: URL
    let url: URL
    private let folder: URL
    private let port: ReservedPort
    private let server = Process()
    private let output = Pipe()
    private let input = Pipe()

    /// Starts the server.
    ///
    /// - Parameter answer: The raw response on the first connection. If `nil`, the server responds on each connection
    ///   with a page that describes the connection.
    init(_ certificate: Certificate, arguments: [String] = [], answer: String? = nil) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authority = folder.appending(path: "ca.pem")
        try Self.makeCertificates(certificate, in: folder)
        port = try ReservedPort()
        url = try #require(URL(string: "https://127.0.0.1:\(port.number)/"))
        server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        server.arguments =
            ["openssl", "s_server", "-accept", "127.0.0.1:\(port.number)", "-cert", "cert.pem", "-key", "key.pem"]
            + (answer == nil ? ["-www"] : []) + arguments
        server.currentDirectoryURL = folder
        server.standardInput = answer == nil ? FileHandle.nullDevice : input
        server.standardOutput = output
        server.standardError = FileHandle.nullDevice
        try server.run()
        guard await Self.output(upTo: "ACCEPT", from: output.fileHandleForReading) != nil else {
            stop()
            throw Failure(output: "the server did not start")
        }
        if let answer { try input.fileHandleForWriting.write(contentsOf: Data(answer.utf8)) }
    }

    /// Returns the request that the server has received, with details of the connection. Call this method only once,
    /// and only if the server has an `answer`.
    func request() async throws -> String {
        guard let text = await Self.output(upTo: "HTTP/1.1\r\n", "\r\n\r\n", from: output.fileHandleForReading) else {
            throw Failure(output: "no request arrived")
        }
        return text
    }

    /// Returns the output up to and including the given texts in order, or `nil` if the output ends first.
    private static func output(upTo texts: String..., from file: FileHandle) async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var received = Data()
                var rest = texts[...]
                while let text = rest.first {
                    if received.contains(text.utf8) {
                        rest = rest.dropFirst()
                        continue
                    }
                    let more = file.availableData
                    guard !more.isEmpty else { return continuation.resume(returning: nil) }
                    received += more
                }
                continuation.resume(returning: String(decoding: received, as: UTF8.self))
            }
        }
    }

    /// Terminates the server's process and removes its files.
    func stop() {
        // The process may block SIGTERM, because it inherits the starting thread's signal mask.
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func makeCertificates(_ certificate: Certificate, in folder: URL) throws {
        let host = certificate == .wrongHost ? "DNS:other.example" : "IP:127.0.0.1"
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"]
        let isOwnAuthority = certificate == .selfSigned
        try openssl(
            ["req", "-x509"] + key + ["ca.key", "-out", "ca.pem", "-subj", "/CN=Authority", "-days", "2"], in: folder)
        if isOwnAuthority {
            try openssl(
                ["req", "-x509"] + key + [
                    "key.pem", "-out", "cert.pem", "-subj", "/CN=server", "-addext", "subjectAltName=\(host)",
                ],
                in: folder)
            return
        }
        try openssl(["req"] + key + ["key.pem", "-out", "request.pem", "-subj", "/CN=server"], in: folder)
        let period: (start: String, end: String) =
            switch certificate {
            case .expired: ("20200101000000Z", "20200102000000Z")
            case .future: ("20900101000000Z", "20900102000000Z")
            default: ("20200101000000Z", "20900101000000Z")
            }
        try Data(
            "[ca]\ndatabase = index\nserial = serial\nnew_certs_dir = .\ndefault_md = sha256\npolicy = any\n[any]\n[ext]\nsubjectAltName = \(host)\n"
                .utf8
        )
        .write(to: folder.appending(path: "ca.conf"))
        try Data().write(to: folder.appending(path: "index"))
        try Data("01\n".utf8).write(to: folder.appending(path: "serial"))
        try openssl(
            [
                "ca", "-batch", "-notext", "-config", "ca.conf", "-name", "ca", "-cert", "ca.pem", "-keyfile", "ca.key",
                "-in",
                "request.pem", "-out", "cert.pem", "-extensions", "ext", "-startdate", period.start, "-enddate",
                period.end,
                "-subj", "/CN=server",
            ], in: folder)
    }

    private static func openssl(_ arguments: [String], in folder: URL) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = folder
        let output = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(output: String(decoding: text, as: UTF8.self)) }
    }
}
