package import Foundation

/// A server program of the system that runs as a child process. Releasing this object stops the process and removes its
/// folder.
package final class ServerChild: Sendable {
    /// The folder with the server's files. It isn't the server's current directory, which is that of the test.
    package let folder: URL
    /// The server's port of 127.0.0.1.
    package var port: UInt16 { reservedPort.number }
    private let reservedPort: ReservedPort
    private let child: ChildProcess

    /// Starts a server on a free port and returns when it accepts connections.
    ///
    /// - Parameters:
    ///   - name: A part of the folder's name.
    ///   - configuration: Returns the configuration for a folder and a port. The text is written to the file
    ///     `configuration`.
    ///   - arguments: Returns the program and its arguments for the same folder and port.
    package init(
        _ name: String, configuration: (URL, UInt16) -> String = { _, _ in "" },
        _ arguments: (URL, UInt16) -> [String]
    ) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "afar-\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        reservedPort = try ReservedPort()
        try configuration(folder, reservedPort.number)
            .write(to: folder.appending(path: "configuration"), atomically: true, encoding: .utf8)
        child = try ChildProcess(arguments(folder, reservedPort.number), output: folder.appending(path: "log"))
        try await child.wait { reservedPort.acceptsConnections }
    }

    deinit {
        child.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The server's output so far.
    package var output: String { child.output }
}

extension ServerChild {
    /// Starts Debian's Apache over TLS with the certificate for `localhost`. It serves the files in its folder.
    ///
    /// - Parameters:
    ///   - modules: The modules to load in addition to `mpm_event`, `authz_core` and `ssl`.
    ///   - directives: Additional directives.
    package static func apache(
        _ certificates: TestCertificates, modules: [String], _ directives: String
    ) async throws -> ServerChild {
        try await ServerChild("apache") { folder, port in
            let loaded = (["mpm_event", "authz_core", "ssl"] + modules).map {
                "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
            }
            return """
                \(loaded.joined(separator: "\n"))
                ServerRoot \(folder.path)
                ServerName localhost
                Listen 127.0.0.1:\(port)
                PidFile \(folder.path)/pid
                ErrorLog /dev/stderr
                User nobody
                Group nogroup
                DefaultRuntimeDir \(folder.path)
                DocumentRoot \(folder.path)
                SSLEngine on
                SSLCertificateFile \(certificates.file("good.pem").path)
                SSLCertificateKeyFile \(certificates.file("good.key").path)
                \(directives)
                """
        } _: { folder, _ in
            ["apache2", "-X", "-d", folder.path, "-f", folder.appending(path: "configuration").path]
        }
    }

    /// Starts a WebSocket server in the system's Python, for which Debian's packages are installed. The path selects
    /// the behavior of a connection: see the script.
    ///
    /// - Parameters:
    ///   - certificate: The name of the certificate. If `nil`, the server doesn't use TLS.
    package static func webSockets(
        _ certificates: TestCertificates? = nil, _ certificate: String = "good"
    ) async throws -> ServerChild {
        try await ServerChild("websockets") { _, port in
            let files =
                certificates.map { [$0.file(certificate + ".pem").path, $0.file(certificate + ".key").path] } ?? []
            return ["/usr/bin/python3", "Tests/TestServers/websocket-server.py", "\(port)"] + files
        }
    }
    /// Starts a server that uses Go's net/http over TLS with the certificate for `localhost`. It serves the files in its
    /// folder. Other paths select a behavior: see the program, which is compiled first.
    package static func go(_ certificates: TestCertificates, files: [String: Data] = [:]) async throws -> ServerChild {
        let build = """
            export GO111MODULE=off GOPATH="$1" GOCACHE="$1/cache"
            go build -o "$1/program" Tests/TestServers/http2-server.go && exec "$1/program" "${@:2}" "$1"
            """
        return try await ServerChild("go") { folder, _ in
            for (name, data) in files { try? data.write(to: folder.appending(path: name)) }
            return ""
        } _: { folder, port in
            let files = ["good.pem", "good.key"].map { certificates.file($0).path }
            return ["bash", "-c", build, "bash", folder.path, "\(port)"] + files
        }
    }

    /// Starts a server that violates HTTP/2, over TLS with the certificate for `localhost`. The path selects the violation:
    /// see the script, which requires Debian's python3-h2.
    package static func hostileHTTP2(_ certificates: TestCertificates) async throws -> ServerChild {
        try await ServerChild("hostile") { _, port in
            let files = ["good.pem", "good.key"].map { certificates.file($0).path }
            return ["/usr/bin/python3", "Tests/TestServers/http2-hostile-server.py", "\(port)"] + files
        }
    }

    /// Starts Debian's nghttpx over TLS with the certificate for `localhost`. It passes requests on to a server without TLS.
    package static func nghttpx(_ certificates: TestCertificates, backend port: UInt16) async throws -> ServerChild {
        try await ServerChild("nghttpx") { folder, frontendPort in
            [
                "nghttpx", "--conf=\(folder.path)/configuration", "--frontend=127.0.0.1,\(frontendPort)",
                "--backend=127.0.0.1,\(port)", "--single-process", "--no-ocsp", "--errorlog-file=/dev/stderr",
                certificates.file("good.key").path, certificates.file("good.pem").path,
            ]
        }
    }
}
