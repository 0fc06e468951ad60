import Foundation
import TestServers

/// Proxies from Debian's packages.
extension ServerChild {
    /// Starts an HTTP proxy. It adds a `Via` field to forwarded messages and logs the destination of each tunnel.
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

    /// Starts a SOCKS 5 proxy.
    ///
    /// - Parameter user: The name and the password of the only user.
    static func microsocks(user: (name: String, password: String)? = nil) async throws -> ServerChild {
        try await ServerChild("microsocks") { _, port in
            ["microsocks", "-i", "127.0.0.1", "-p", "\(port)"]
                + (user.map { ["-u", $0.name, "-P", $0.password] } ?? [])
        }
    }

    /// Starts an HTTP proxy over TLS, with the certificate for `localhost`.
    static func apache(_ certificates: TestCertificates) async throws -> ServerChild {
        try await ServerChild.apache(
            certificates, modules: ["proxy", "proxy_http", "proxy_connect"],
            """
            ProxyRequests on
            ProxyVia on
            AllowCONNECT 0-65535
            """)
    }

    /// Starts nginx on a Unix socket, the file `socket` in its folder. It responds with the requested host.
    static func nginxOnUnixSocket() async throws -> ServerChild {
        try await nginx { folder, _ in "unix:\(folder.path)/socket" }
    }

    /// Starts nginx on 127.0.0.1 and all IPv6 addresses. It responds with the host and the address that the client
    /// connected to.
    static func nginxOnBothFamilies() async throws -> ServerChild {
        try await nginx { _, port in "[::]:\(port)" }
    }

    /// Starts nginx.
    ///
    /// - Parameter place: The address to listen on in addition to 127.0.0.1.
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
