public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An nginx server with TLS sites. Each has its own certificate and port.
///
/// The response is one line: the connection's number, the client's certificate (or "none"), and `r` or `.` depending on
/// whether the TLS session was resumed. `/to?URL` redirects to the URL. These responses are sent when the request's head has arrived.
/// The response of `/body` is sent after the whole body has arrived. It has the status 204.
public final class SecureServer: Sendable {
    /// The configuration of a site.
    public struct Site: Sendable {
        let certificate: String
        let stapledResponse: String?
        let clients: Clients
        let speaksHTTP2: Bool

        /// The server's handling of client certificates.
        public enum Clients: String, Sendable {
            case notRequested = "off"
            case requested = "optional"
            case required = "on"
        }

        /// Creates a site.
        ///
        /// - Parameters:
        ///   - certificate: The name of the certificate in ``TestCertificates``.
        ///   - stapledResponse: The name of an OCSP response.
        ///   - clients: Whether the server requests client certificates from the authority.
        ///   - speaksHTTP2: Whether the server supports HTTP/2 in addition to HTTP/1.1.
        public init(
            _ certificate: String, stapling stapledResponse: String? = nil, clients: Clients = .notRequested,
            speaksHTTP2: Bool = false
        ) {
            self.certificate = certificate
            self.stapledResponse = stapledResponse
            self.clients = clients
            self.speaksHTTP2 = speaksHTTP2
        }
    }

    private let folder: URL
    private let ports: [String: ReservedPort]
    private let nginx: ChildProcess

    /// The site without TLS.
    private static let plainSite = "plain"

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - sites: The sites by their names.
    ///   - settings: Additional nginx directives for all sites.
    public init(_ certificates: TestCertificates, _ sites: [String: Site], settings: String = "") async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "afar-nginx-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        ports = try Dictionary(
            uniqueKeysWithValues: (sites.keys + [Self.plainSite]).map { ($0, try ReservedPort()) })
        try Self.configuration(of: folder, certificates, sites, ports.mapValues(\.number), settings)
            .write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
        nginx = try ChildProcess(
            ["nginx", "-p", folder.path, "-e", "error.log", "-c", "nginx.conf"],
            output: folder.appending(path: "error.log"))
        try await nginx.wait { ports.values.allSatisfy(\.acceptsConnections) }
    }

    deinit {
        nginx.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Returns the URL of a site.
    public func url(_ site: String, host: String = "localhost", path: String = "/") throws -> URL {
        guard let port = ports[site]?.number, let url = URL(string: "https://\(host):\(port)\(path)") else {
            throw TestCertificates.Failure(output: "no site \(site)")
        }
        return url
    }

    /// Returns the number of request bytes that a site has received.
    public func requestBytes(to site: String) async throws -> Int {
        guard let plain = URL(string: "http://127.0.0.1:\(ports[Self.plainSite]?.number ?? 0)/") else { return 0 }
        // nginx processes events in order. When it responds to the second request, it has logged all bytes that arrived
        // before the first.
        for _ in 0..<2 { _ = try await URLSession.shared.data(from: plain) }
        let log = try String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8)
        guard let port = ports[site]?.number else { throw TestCertificates.Failure(output: "no site \(site)") }
        return log.split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(separator: " ")
            return words.count == 2 && words[0] == "\(port)" ? sum + (Int(words[1]) ?? 0) : sum
        }
    }

    private static func configuration(
        of folder: URL, _ certificates: TestCertificates, _ sites: [String: Site], _ ports: [String: UInt16],
        _ settings: String
    ) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path)/\($0);"
        }
        let servers = sites.map { name, site in
            let files = "\(certificates.folder.path)/\(site.certificate)"
            let stapling = site.stapledResponse.map {
                "ssl_stapling on; ssl_stapling_file \(certificates.folder.path)/\($0);"
            }
            return """
                server {
                  listen 127.0.0.1:\(ports[name] ?? 0) ssl\(site.speaksHTTP2 ? " http2" : "");
                  ssl_certificate \(files).pem; ssl_certificate_key \(files).key; \(stapling ?? "")
                  ssl_verify_client \(site.clients.rawValue);
                  location / { return 200 "$connection $client $ssl_session_reused\\n"; }
                  location /to { return 302 $args; }
                  location /body { proxy_pass http://127.0.0.1:\(ports[plainSite] ?? 0)/; }
                }
                """
        }
        return """
            daemon off; master_process off; pid \(folder.path)/pid;
            error_log stderr notice;
            events { worker_connections 4096; }
            http {
              \(temporary.joined(separator: " "))
              log_format bytes "$server_port $request_length"; access_log \(folder.path)/access.log bytes;
              \(settings.contains("keepalive_requests") ? "" : "keepalive_requests 1000000;")
              default_type text/plain;
              ssl_ciphers DEFAULT@SECLEVEL=0;
              \(settings.contains("ssl_session_cache") ? "" : "ssl_session_cache shared:tls:1m;")
              ssl_client_certificate \(certificates.authority.path);
              map $ssl_client_s_dn $client { default $ssl_client_s_dn; "" none; }
              \(settings.contains("ssl_protocols") ? "" : "ssl_protocols TLSv1.2 TLSv1.3;")
              \(settings)
              server { listen 127.0.0.1:\(ports[plainSite] ?? 0); location / { return 204; } }
              \(servers.joined(separator: "\n"))
            }
            """
    }
}
