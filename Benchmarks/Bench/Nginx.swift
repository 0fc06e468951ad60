import Foundation

/// The server: nginx as one process with a configuration of its own, on a free port of this machine. It runs until the
/// clean-up.
struct Nginx {
    let port: UInt16

    init(site: Site) throws {
        port = try LoopbackPort.unused()
        let file = site.folder.appending(path: "nginx.conf")
        try Self.configuration(site: site, port: port).write(to: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = try Executable.find("nginx")
        process.arguments = ["-c", file.path, "-e", site.folder.appending(path: "error.log").path]
        try process.run()
        Cleanup.shared.add(process)
        while !LoopbackPort.accepts(port) {
            guard process.isRunning else { throw Failure("nginx ended: see its messages above") }
            usleep(10_000)
        }
    }

    /// Uploads are read to their end and stored, because a server that answers before that would end some clients'
    /// uploads early.
    private static func configuration(site: Site, port: UInt16) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "    \($0)_temp_path \(site.folder.path)/\($0);" }
            .joined(separator: "\n")
        return """
            daemon off;
            master_process off;
            pid \(site.folder.path)/nginx.pid;
            events {
                worker_connections 1024;
            }
            http {
            \(temporary)
                access_log off;
                sendfile on;
                keepalive_requests 1000000000;
                keepalive_timeout 1h;
                open_file_cache max=16;
                client_max_body_size 0;
                client_body_buffer_size 1m;
                default_type text/plain;
                types { application/json json; }
                server {
                    listen 127.0.0.1:\(port) backlog=1024;
                    root \(site.files.path);
                    location = \(Site.tiny) { return 200 "\(Site.tinyBody.replacing("\n", with: "\\n"))"; }
                    location = \(Site.uploads) { dav_methods PUT; }
                }
            }

            """
    }
}
