import Foundation
import Servers

extension Nginx {
    /// Starts nginx for a site. Uploads are read completely and stored, because some clients stop uploading after an
    /// early response.
    init(site: Site, securePort: UInt16, http2Port: UInt16) throws {
        let port = try LoopbackPort.unused()
        let body = Site.tinyBody.replacing("\n", with: "\\n")
        try self.init(
            port: port, folder: site.folder,
            http: """
                sendfile on;
                keepalive_requests 1000000000;
                keepalive_timeout 1h;
                open_file_cache max=16;
                client_max_body_size 0;
                client_body_buffer_size 1m;
                default_type text/plain;
                types { application/json json; }
                ssl_certificate \(site.certificate.path);
                ssl_certificate_key \(site.key.path);
                server {
                    listen 127.0.0.1:\(port) backlog=1024;
                    listen 127.0.0.1:\(securePort) ssl backlog=1024;
                    listen 127.0.0.1:\(http2Port) ssl http2 backlog=1024;
                    root \(site.files.path);
                    location = \(Site.tiny) { return 200 "\(body)"; }
                    location = \(Site.closing) { keepalive_timeout 0; return 200 "\(body)"; }
                    location = \(Site.uploads) { dav_methods PUT; }
                }
                """)
    }
}
