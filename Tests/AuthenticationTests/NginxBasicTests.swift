import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Basic authentication with nginx, over each transport.
@Suite(.serialized, .timeLimit(.minutes(2))) struct NginxBasicTests {
    private let folder: ServerFolder
    private let process: ServerProcess
    private let url: String

    init() throws {
        let folder = try ServerFolder()
        try folder.write("ada:{PLAIN}love lace é\n", to: "users")
        try folder.write("basic\n", to: "pages/page")
        process = try ServerProcess(
            "/usr/sbin/nginx", ["-p", folder.path, "-c", "\(folder.path)/nginx.conf", "-e", "stderr"],
            in: folder.url
        ) { port in try folder.write(Self.configuration(in: folder.path, port: port), to: "nginx.conf") }
        self.folder = folder
        url = "http://127.0.0.1:\(process.port)/page"
    }

    private static func configuration(in folder: String, port: UInt16) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/\($0);\n"
        }
        return """
            daemon off;
            master_process off;
            pid \(folder)/pid;
            error_log stderr notice;
            events {}
            http {
              access_log off;
              \(temporary.joined())
              server {
                listen 127.0.0.1:\(port);
                root \(folder)/pages;
                auth_basic "Afar";
                auth_basic_user_file \(folder)/users;
                add_header X-User $remote_user always;
              }
            }
            """
    }

    @Test(arguments: 0..<ApacheDigestTests.transports.count)
    func theCorrectPasswordIsAccepted(transport: Int) async throws {
        let session = Session(transport: ApacheDigestTests.transports[transport]())
        let request = session.request(url).authenticate(username: "ada", password: "love lace é")
        #expect(try await request.validate().serializingString().value == "basic\n")
        #expect(request.response?.headers["X-User"] == "ada")
        let refused = session.request(url).authenticate(username: "ada", password: "wrong")
        _ = await refused.serializingData().response
        #expect(refused.response?.statusCode == 401)
    }
}
