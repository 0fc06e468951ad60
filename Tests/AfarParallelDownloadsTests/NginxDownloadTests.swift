import Afar
import AfarParallelDownloads
import AfarTestServer
import Foundation
import TestServers
import Testing

/// Parallel downloads from nginx.
@Suite(.timeLimit(.minutes(2))) struct NginxDownloadTests {
    private static func start(
        _ content: Data, settings: String = "", certificates: TestCertificates? = nil
    ) async throws -> ServerChild {
        try await ServerChild("nginx-ranges") { folder, port in
            try? content.write(to: folder.appending(path: "file"))
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder.path)/\($0);"
            }
            let tls = certificates.map {
                "ssl_certificate \($0.file("good.pem").path); ssl_certificate_key \($0.file("good.key").path);"
            }
            return """
                daemon off; master_process off; pid \(folder.path)/pid; error_log stderr notice;
                events {}
                http {
                  log_format connection "$connection $status"; access_log \(folder.path)/access.log connection;
                  \(temporary.joined(separator: " ")) \(settings) \(tls ?? "")
                  server { listen 127.0.0.1:\(port)\(tls == nil ? "" : " ssl http2"); root \(folder.path); }
                }
                """
        } _: { folder, _ in
            ["nginx", "-p", folder.path, "-e", "stderr", "-c", folder.appending(path: "configuration").path]
        }
    }

    @Test(arguments: ["", "max_ranges 0;", "etag off;", "limit_rate 20m;", "sendfile on; gzip on; gzip_types *;"])
    func theFileIsComplete(settings: String) async throws {
        let content = Data.sample(16 * mebibyte + 5)
        let nginx = try await Self.start(content, settings: settings)
        let file = nginx.folder.appending(path: "copy")
        let download = Session().download("http://127.0.0.1:\(nginx.port)/file", parallel: 4, to: file)
        _ = try await download.value
        #expect(try Data(contentsOf: file) == content)
        // The file is new, so its date is not a strong validator.
        #expect(
            download.response?.statusCode
                == (settings == "" || settings.contains("20m") || settings.contains("gzip") ? 206 : 200))
    }

    @Test func requestsOverHTTP2ShareAConnection() async throws {
        let content = Data.sample(16 * mebibyte)
        let certificates = try TestCertificates.shared.get()
        let nginx = try await Self.start(content, certificates: certificates)
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        let file = nginx.folder.appending(path: "copy")
        let session = Session(configuration: configuration)
        _ = try await session.download("https://localhost:\(nginx.port)/file", parallel: 4, to: file).value
        #expect(try Data(contentsOf: file) == content)
        let log = try String(contentsOf: nginx.folder.appending(path: "access.log"), encoding: .utf8)
        let lines = log.split(separator: "\n")
        #expect(lines.count > 4)
        #expect(Set(lines).count == 1, "\(log)")
        #expect(lines[0].hasSuffix(" 206"))
    }

    @Test func anEmptyFileIsComplete() async throws {
        let nginx = try await Self.start(Data())
        let file = nginx.folder.appending(path: "copy")
        _ = try await Session().download("http://127.0.0.1:\(nginx.port)/file", parallel: 4, to: file).value
        #expect(try Data(contentsOf: file).isEmpty)
    }
}
