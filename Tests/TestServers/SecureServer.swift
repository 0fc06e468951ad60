public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// nginx with sites over TLS, each with a certificate and a port of its own.
///
/// The answer to a request is one line: the connection's number, the client's certificate (or "none"), and `r` or `.` for
/// a TLS session that was resumed or not. `/to?URL` leads elsewhere.
public final class SecureServer: Sendable {
    /// What one port offers.
    public struct Site: Sendable {
        let certificate: String
        let stapledResponse: String?
        let clients: Clients
        let speaksHTTP2: Bool

        /// Whether clients are asked who they are.
        public enum Clients: String, Sendable {
            case notAsked = "off"
            case asked = "optional"
            case required = "on"
        }

        /// - Parameters:
        ///   - certificate: The certificate's name, by ``TestCertificates``.
        ///   - stapledResponse: The name of an OCSP response.
        ///   - clients: Whether clients are asked for certificates of the authority's.
        ///   - speaksHTTP2: Whether it offers HTTP/2 beside HTTP/1.1.
        public init(
            _ certificate: String, stapling stapledResponse: String? = nil, clients: Clients = .notAsked,
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

    /// A port that answers without TLS.
    private static let plainSite = "plain"

    /// - Parameters:
    ///   - sites: By their names.
    ///   - settings: Further directives of nginx for all.
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

    /// Where a site is.
    public func url(_ site: String, host: String = "localhost", path: String = "/") throws -> URL {
        guard let port = ports[site]?.number, let url = URL(string: "https://\(host):\(port)\(path)") else {
            throw TestCertificates.Failure(output: "no site \(site)")
        }
        return url
    }

    /// How many bytes of requests have come to a site until now.
    public func requestBytes(to site: String) async throws -> Int {
        guard let plain = URL(string: "http://127.0.0.1:\(ports[Self.plainSite]?.number ?? 0)/") else { return 0 }
        // It takes what has come in turns, one event after the other: what was there before the first of these is in its log
        // after the second.
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
