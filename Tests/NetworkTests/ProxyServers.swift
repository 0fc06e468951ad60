import Foundation
import TestServers

/// Proxies of Debian's packages.
extension ServerChild {
    /// A proxy of HTTP. It adds a `Via` field to what it hands on, and says of a tunnel where it leads.
    static func tinyproxy(user: String? = nil) async throws -> ServerChild {
        try await ServerChild("tinyproxy") { _, port in
            """
            Port \(port)
            Listen 127.0.0.1
            MaxClients 200
            LogLevel Connect
            ViaProxyName "tinyproxy"
            \(user.map { "BasicAuth \($0)" } ?? "")
            """
        } _: { folder, _ in
            ["tinyproxy", "-d", "-c", folder.appending(path: "configuration").path]
        }
    }

    /// A proxy of SOCKS 5.
    ///
    /// - Parameter user: Its only user and the password.
    static func microsocks(user: (name: String, password: String)? = nil) async throws -> ServerChild {
        try await ServerChild("microsocks") { _, port in
            ["microsocks", "-i", "127.0.0.1", "-p", "\(port)"]
                + (user.map { ["-u", $0.name, "-P", $0.password] } ?? [])
        }
    }

    /// A proxy of HTTP over TLS, with the certificate of `localhost`.
    static func apache(_ certificates: TestCertificates) async throws -> ServerChild {
        try await ServerChild.apache(
            certificates, modules: ["proxy", "proxy_http", "proxy_connect"],
            """
            ProxyRequests on
            ProxyVia on
            AllowCONNECT 0-65535
            """)
    }

    /// nginx on a Unix socket, the file `socket` in its folder. Its answer is the host that it was asked for.
    static func nginxOnUnixSocket() async throws -> ServerChild {
        try await nginx { folder, _ in "unix:\(folder.path)/socket" }
    }

    /// nginx on 127.0.0.1 and all IPv6 addresses. It responds with the host and the address that the client connected to.
    static func nginxOnBothFamilies() async throws -> ServerChild {
        try await nginx { _, port in "[::]:\(port)" }
    }

    /// - Parameter place: Where it listens besides 127.0.0.1.
    private static func nginx(andOn place: @escaping @Sendable (URL, UInt16) -> String) async throws -> ServerChild {
        try await ServerChild("nginx") { folder, port in
            """
            daemon off; master_process off; pid \(folder.path)/pid; error_log stderr;
            events { worker_connections 512; }
            http {
              client_body_temp_path \(folder.path)/body; proxy_temp_path \(folder.path)/proxy; access_log off;
              fastcgi_temp_path \(folder.path)/fastcgi; uwsgi_temp_path \(folder.path)/uwsgi; scgi_temp_path \(folder.path)/scgi;
              server {
                listen 127.0.0.1:\(port); listen \(place(folder, port));
                default_type text/plain;
                location / { return 200 "$host $server_addr"; }
              }
            }
            """
        } _: { folder, _ in
            ["nginx", "-p", folder.path, "-e", "stderr", "-c", folder.appending(path: "configuration").path]
        }
    }
}
