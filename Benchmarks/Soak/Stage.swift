import Afar
import AfarTestServer
import Foundation
import Servers

/// The servers and the sessions that send requests to them.
struct Stage: Sendable {
    let folder: URL
    let nginx: Nginx
    let tlsPort: UInt16
    private let http2Port: UInt16
    let scripts: ScriptedServers
    let closedPort: ClosedPort
    /// A session with the default configuration, except for the connection limits.
    let session: Session
    /// A session with low limits.
    let strictSession: Session
    /// A session that trusts the server's certificate, so that it can use HTTP/2.
    let http2Session: Session
    /// A session over libcurl.
    let curlSession: Session
    /// A session over Foundation's URLSession.
    let urlSession: Session

    static let strictBodyLimit: Int64 = 4_096
    static let strictHeadLimit = 8_192

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "afar-soak-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        Cleanup.shared.add(folder)
        // Interrupted downloads leave partial files in the temporary directory.
        setenv("TMPDIR", folder.path, 1)
        try Data("ada:{PLAIN}engine\n".utf8).write(to: folder.appending(path: "users"))
        let port = try LoopbackPort.unused()
        tlsPort = try LoopbackPort.unused()
        http2Port = try LoopbackPort.unused()
        try Self.makeCertificate(in: folder)
        try Data(count: Int(Self.strictBodyLimit) * 2).write(to: folder.appending(path: "large"))
        nginx = try Nginx(
            port: port, folder: folder,
            http: Self.configuration(folder: folder, port: port, tlsPort: tlsPort, http2Port: http2Port))
        scripts = try ScriptedServers()
        closedPort = try ClosedPort()
        var configuration = SessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = Trial.inFlight
        session = Session(configuration: configuration)
        curlSession = Session(
            configuration: configuration, transport: CurlTransport(configuration: .init(configuration)))
        urlSession = Session(configuration: configuration, transport: URLSessionTransport())
        var http2Configuration = configuration
        http2Configuration.certificateBundle = folder.appending(path: "certificate.pem")
        http2Session = Session(configuration: http2Configuration)
        configuration.maximumResponseBodySize = Self.strictBodyLimit
        configuration.maximumResponseHeadSize = Self.strictHeadLimit
        strictSession = Session(configuration: configuration)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(nginx.port)\(path)" }

    func http2URL(_ path: String) -> String { "https://127.0.0.1:\(http2Port)\(path)" }

    /// The sessions whose memory and descriptors are checked: all except the one over URLSession.
    var checkedSessions: [Session] { [session, strictSession, http2Session, curlSession] }

    func closeIdleConnections() {
        for session in checkedSessions { session.transport.closeIdleConnections() }
    }

    /// Returns the nginx configuration. As in production, nginx closes a connection after a fixed number of requests.
    private static func configuration(folder: URL, port: UInt16, tlsPort: UInt16, http2Port: UInt16) -> String {
        """
            keepalive_requests 10000;
            keepalive_timeout 1h;
            default_type application/json;
            server {
                listen 127.0.0.1:\(port) backlog=1024;
                listen 127.0.0.1:\(tlsPort) ssl;
                listen 127.0.0.1:\(http2Port) ssl http2;
                ssl_certificate \(folder.path)/certificate.pem;
                ssl_certificate_key \(folder.path)/key.pem;
                location = /record { return 200 '\(Record.json)'; }
                location = /text { return 200 'not a record'; }
                location = /large { alias \(folder.path)/large; }
                location = /500 { return 500; }
                location = /busy { return 503; }
                location = /redirect { return 302 /record; }
                location = /private { auth_basic private; auth_basic_user_file \(folder.path)/users; alias \(folder.path)/large; }
            }
        """
    }

    /// Creates a self-signed certificate that clients don't trust.
    private static func makeCertificate(in folder: URL) throws {
        _ = try Executable.run(
            Executable.find("openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=Nobody", "-addext", "subjectAltName=IP:127.0.0.1",
                "-keyout", folder.appending(path: "key.pem").path,
                "-out", folder.appending(path: "certificate.pem").path,
            ], standardError: .nullDevice)
    }
}
