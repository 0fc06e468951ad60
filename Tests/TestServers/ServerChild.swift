import AfarTestServer
package import Foundation

/// A server of the system's packages that runs as a child, with its files in a folder that ends with it.
package final class ServerChild: Sendable {
    /// Where its files are; its current directory is the test's.
    package let folder: URL
    /// Of 127.0.0.1.
    package let port: UInt16
    private let child: ChildProcess

    /// Starts a server on a free port, and returns when it accepts connections there.
    ///
    /// - Parameters:
    ///   - name: Part of the folder's name.
    ///   - configuration: Its configuration for a folder and a port, which is written to the file `configuration`.
    ///   - arguments: The program and its arguments, given the same.
    package init(
        _ name: String, configuration: (URL, UInt16) -> String = { _, _ in "" },
        _ arguments: (URL, UInt16) -> [String]
    ) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "afar-\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let log = folder.appending(path: "log")
        // The port is given back just before the server takes it, so that another may be faster.
        for _ in 0..<5 {
            let port = try ClosedPort().number
            try configuration(folder, port)
                .write(to: folder.appending(path: "configuration"), atomically: true, encoding: .utf8)
            let child = try ChildProcess(arguments(folder, port), output: log)
            while child.isRunning {
                if Self.accepts(port) {
                    (self.port, self.child) = (port, child)
                    return
                }
                await Task.yield()
            }
        }
        let said = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        throw TestCertificates.Failure(output: "\(name) did not start: \(said)")
    }

    deinit {
        child.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// What it has said until now.
    package var said: String { child.said }

    private static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

extension ServerChild {
    /// A server of WebSockets, on the system's Python, which has Debian's packages. What a connection does there is said by its path: see the script.
    ///
    /// - Parameters:
    ///   - certificate: The name of its certificate; nil for none, so that it speaks without TLS.
    package static func webSockets(
        _ certificates: TestCertificates? = nil, _ certificate: String = "good"
    ) async throws -> ServerChild {
        try await ServerChild("websockets") { _, port in
            let files =
                certificates.map { [$0.file(certificate + ".pem").path, $0.file(certificate + ".key").path] } ?? []
            return ["/usr/bin/python3", "Tests/TestServers/websocket-server.py", "\(port)"] + files
        }
    }
}
