package import Foundation

/// An nginx process with its own configuration. It runs until the cleanup.
package struct Nginx {
    /// The port of 127.0.0.1 that the server listens on.
    package let port: UInt16

    /// Starts nginx and returns when it accepts connections.
    ///
    /// - Parameters:
    ///   - port: A port that the configuration's server listens on.
    ///   - folder: The folder for the configuration, the log and temporary files.
    ///   - http: The contents of the configuration's `http` block.
    package init(port: UInt16, folder: URL, http: String) throws {
        self.port = port
        let file = folder.appending(path: "nginx.conf")
        try Self.configuration(folder: folder, http: http).write(to: file, atomically: true, encoding: .utf8)
        try Executable.serve(
            "nginx", ["-c", file.path, "-e", folder.appending(path: "error.log").path], on: port)
    }

    private static func configuration(folder: URL, http: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "    \($0)_temp_path \(folder.path)/\($0);" }
            .joined(separator: "\n")
        return """
            daemon off;
            master_process off;
            pid \(folder.path)/nginx.pid;
            events {
                worker_connections 1024;
            }
            http {
            \(temporary)
                access_log off;
            \(http)
            }

            """
    }
}
