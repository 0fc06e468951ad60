import AfarTestServer
import Foundation
import Testing

/// Negotiate (RFC 4559) with MIT's Kerberos and Apache.
@Suite(.serialized, .timeLimit(.minutes(2))) struct KerberosTests {
    /// A Kerberos realm: a key distribution center with a user and a service.
    private final class Realm {
        let folder: ServerFolder
        let environment: [String: String]
        private let process: ServerProcess

        init() throws {
            let folder = try ServerFolder()
            self.folder = folder
            let environment = [
                "KRB5_CONFIG": "\(folder.path)/krb5.conf", "KRB5_KDC_PROFILE": "\(folder.path)/kdc.conf",
                "KRB5CCNAME": "FILE:\(folder.path)/ticket", "KRB5RCACHENAME": "none:",
            ]
            self.environment = environment
            process = try ServerProcess("/usr/sbin/krb5kdc", ["-n"], in: folder.url, environment: environment) { port in
                try folder.write(Self.clientConfiguration(port), to: "krb5.conf")
                try folder.write(Self.serverConfiguration(in: folder.path, port), to: "kdc.conf")
                try Self.makeDatabase(in: folder.path, environment)
            }
        }

        private static func clientConfiguration(_ port: UInt16) -> String {
            """
            [libdefaults]
              default_realm = AFAR.TEST
              dns_lookup_kdc = false
              dns_lookup_realm = false
              dns_canonicalize_hostname = false
              rdns = false
              udp_preference_limit = 1
            [realms]
              AFAR.TEST = {
                kdc = 127.0.0.1:\(port)
              }
            [domain_realm]
              localhost = AFAR.TEST
            """
        }

        private static func serverConfiguration(in folder: String, _ port: UInt16) -> String {
            """
            [kdcdefaults]
              kdc_listen = ""
              kdc_tcp_listen = 127.0.0.1:\(port)
            [realms]
              AFAR.TEST = {
                database_name = \(folder)/database
                key_stash_file = \(folder)/stash
              }
            [logging]
              kdc = FILE:\(folder)/kdc.log
            """
        }

        private static func makeDatabase(in folder: String, _ environment: [String: String]) throws {
            try ServerProcess.run(
                "/usr/sbin/kdb5_util", ["create", "-s", "-r", "AFAR.TEST", "-P", "master"], environment: environment)
            for query in [
                "addprinc -pw lovelace ada", "addprinc -randkey HTTP/localhost",
                "ktadd -k \(folder)/keytab HTTP/localhost",
            ] {
                try ServerProcess.run("/usr/sbin/kadmin.local", ["-q", query], environment: environment)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder)/keytab")
        }

        func getTicket() throws {
            try ServerProcess.run("/usr/bin/kinit", ["ada"], environment: environment, input: "lovelace\n")
        }
    }

    private func probe(_ arguments: [String], in realm: Realm) throws -> [String] {
        let bundle = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let path = bundle.deletingLastPathComponent().appending(path: "AuthenticationProbe").path
        return try ServerProcess.run(path, arguments, environment: realm.environment).split(separator: "\n").map(
            String.init)
    }

    @Test func onlyTheUsersTicketIsAccepted() throws {
        let realm = try Realm()
        let apache = try Apache(keytab: realm.folder.url.appending(path: "keytab"), environment: realm.environment)
        let (page, open) = ("\(apache.url)negotiate/page", "\(apache.url)open/page")
        // The first probe has no ticket. The second one doesn't use its ticket.
        #expect(try probe(["ticket", page], in: realm) == ["401 nobody"])
        try realm.getTicket()
        #expect(try probe(["none", page], in: realm) == ["401 nobody"])
        // Each request to `page` authenticates again. The one to `open` doesn't use the connection's credentials.
        let user = "200 ada@AFAR.TEST"
        #expect(try probe(["ticket", page, open, page], in: realm) == [user, "200 nobody", user])
    }
}
