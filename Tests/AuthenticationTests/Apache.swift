import AfarTestServer
import Foundation
import Testing

/// Debian's Apache with the Digest module and, if there is a key, the GSS-API module.
final class Apache {
    let url: URL
    private let folder: ServerFolder
    private let process: ServerProcess

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - digestUsers: The lines of the password file: user, realm "Afar" and hash.
    ///   - keytab: The key of the service `HTTP/localhost`, for `/negotiate`.
    init(digestUsers: String = "", keytab: URL? = nil, environment: [String: String] = [:]) throws {
        let folder = try ServerFolder()
        self.folder = folder
        for place in ["digest", "negotiate", "open"] { try folder.write("\(place)\n", to: "pages/\(place)/page") }
        try folder.write(digestUsers, to: "users")
        process = try ServerProcess(
            "/usr/sbin/apache2", ["-X", "-d", folder.path, "-f", "\(folder.path)/httpd.conf"], in: folder.url,
            environment: environment
        ) { port in
            try folder.write(Self.configuration(in: folder.path, port: port, keytab: keytab), to: "httpd.conf")
        }
        url = try #require(URL(string: "http://localhost:\(process.port)/"))
    }

    private static func configuration(in folder: String, port: UInt16, keytab: URL?) -> String {
        let modules = [
            "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest", "headers",
            "auth_gssapi",
        ].map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so\n" }
        let negotiate = """
            <Location /negotiate>
              AuthType GSSAPI
              AuthName Afar
              GssapiCredStore keytab:\(keytab?.path ?? "none")
              GssapiAllowedMech krb5
              Require valid-user
            </Location>
            """
        return """
            \(modules.joined())
            ServerRoot \(folder)
            ServerName localhost
            Listen 127.0.0.1:\(port)
            PidFile \(folder)/pid
            ErrorLog /dev/stderr
            User nobody
            Group nogroup
            DocumentRoot \(folder)/pages
            DefaultRuntimeDir \(folder)
            Header always set X-User "expr=%{REMOTE_USER}"
            <Location /digest>
              AuthType Digest
              AuthName Afar
              AuthDigestProvider file
              AuthUserFile \(folder)/users
              Require valid-user
            </Location>
            \(keytab == nil ? "" : negotiate)
            """
    }
}
