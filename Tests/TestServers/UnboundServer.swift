import Foundation

extension ServerChild {
    /// Starts Debian's unbound as a DNS server over HTTPS (HTTP/2) with the certificate for `localhost`. It serves only the zone `test`.
    package static func unbound(_ certificates: TestCertificates) async throws -> ServerChild {
        let zone = """
            $ORIGIN test.
            $TTL 300
            @ IN SOA ns.test. admin.test. 1 3600 600 86400 60
            @ IN NS ns.test.
            ns IN A 127.0.0.1
            both 120 IN A 127.0.0.1
            both 60 IN AAAA ::1
            four IN A 127.0.0.1
            first 30 IN CNAME second
            second IN CNAME both
            text IN TXT "no address"
            """ + "\n" + (0..<200).map { "many IN A 127.0.1.\($0)\n" }.joined()
        return try await ServerChild("unbound") { folder, port in
            try? zone.write(to: folder.appending(path: "zone"), atomically: true, encoding: .utf8)
            return """
                server:
                  interface: 127.0.0.1@\(port)
                  https-port: \(port)
                  tls-service-pem: "\(certificates.file("good.pem").path)"
                  tls-service-key: "\(certificates.file("good.key").path)"
                  directory: "\(folder.path)"
                  chroot: ""
                  username: ""
                  pidfile: ""
                  logfile: ""
                  use-syslog: no
                  do-daemonize: no
                  num-threads: 1
                  module-config: "iterator"
                  access-control: 127.0.0.0/8 allow
                  local-zone: "." static
                  local-zone: "test." transparent
                  local-zone: "refused.test." always_refuse
                auth-zone:
                  name: "test."
                  zonefile: "\(folder.path)/zone"
                  for-downstream: yes
                  for-upstream: no
                """
        } _: { folder, _ in
            ["unbound", "-d", "-c", folder.appending(path: "configuration").path]
        }
    }
}
