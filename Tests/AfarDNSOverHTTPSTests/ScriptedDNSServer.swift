import AfarTestServer
import Foundation
import TestServers

/// A DNS server over HTTPS whose answers a test chooses: nginx with TLS in front of a test server.
struct ScriptedDNSServer {
    /// An answer to one query.
    enum Answer: Sendable {
        /// Address records.
        case addresses([[UInt8]], time: UInt8)
        /// No records, and a SOA record with this time, if any.
        case none(time: UInt8?)
        /// No answer until the query is canceled.
        case silence
        /// A redirect.
        case redirect(String)
        case status(Int)
    }

    private let upstream: TestServer
    private let proxy: ServerChild

    /// - Parameter answer: Returns the answer for a host and a type: 1 (A) or 28 (AAAA).
    init(
        _ certificates: TestCertificates, path: String = "/dns-query",
        _ answer: @escaping @Sendable (String, UInt8) -> Answer
    ) async throws {
        let upstream = try await TestServer.start()
        upstream.route(path) { request in
            guard let query = Self.query(of: request), let (host, type) = Self.question(of: query) else {
                return ServerResponse(status: 400)
            }
            return await Self.response(to: query, answer(host, type))
        }
        let port = upstream.url.port ?? 0
        proxy = try await ServerChild("nginx") { folder, ownPort in
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder.path)/\($0);"
            }
            return """
                daemon off; master_process off; pid \(folder.path)/pid; error_log stderr;
                events { worker_connections 512; }
                http {
                  \(temporary.joined(separator: " ")) access_log off;
                  server {
                    listen 127.0.0.1:\(ownPort) ssl http2;
                    ssl_certificate \(certificates.file("good.pem").path);
                    ssl_certificate_key \(certificates.file("good.key").path);
                    location / { proxy_pass http://127.0.0.1:\(port); proxy_read_timeout 300s; }
                  }
                }
                """
        } _: { folder, _ in
            ["nginx", "-p", folder.path, "-e", "stderr", "-c", folder.appending(path: "configuration").path]
        }
        self.upstream = upstream
    }

    var port: UInt16 { proxy.port }

    /// The number of queries so far.
    var queryCount: Int { upstream.requestCount }

    func stop() async { await upstream.stop() }

    private static func query(of request: ServerRequest) -> [UInt8]? {
        guard request.method == "GET" else { return [UInt8](request.body) }
        let text = (request.arguments.first { $0.name == "dns" }?.value ?? "")
            .replacing("-", with: "+").replacing("_", with: "/")
        let padded = text.padding(toLength: (text.count + 3) / 4 * 4, withPad: "=", startingAt: 0)
        return Data(base64Encoded: padded).map { [UInt8]($0) }
    }

    private static func question(of query: [UInt8]) -> (String, UInt8)? {
        guard query.count > 16 else { return nil }
        var (labels, position) = ([String](), 12)
        while position < query.count, query[position] > 0 {
            let end = position + 1 + Int(query[position])
            guard end < query.count else { return nil }
            labels.append(String(decoding: query[(position + 1)..<end], as: UTF8.self))
            position = end
        }
        return (labels.joined(separator: "."), query[query.count - 3])
    }

    private static func response(to query: [UInt8], _ answer: Answer) async -> ServerResponse {
        var bytes = query
        (bytes[2], bytes[3]) = (0x81, 0x80)
        switch answer {
        case .silence:
            try? await Task.sleep(for: .seconds(600))
            return ServerResponse(status: 503)
        case .redirect(let location):
            var response = ServerResponse(status: 302)
            response.headers["Location"] = location
            return response
        case .status(let status): return ServerResponse(status: status)
        case .addresses(let addresses, let time):
            bytes[7] = UInt8(addresses.count)
            for address in addresses {
                bytes += [0xC0, 12, 0, address.count == 4 ? 1 : 28, 0, 1, 0, 0, 0, time, 0, UInt8(address.count)]
                bytes += address
            }
        case .none(let time):
            guard let time else { break }
            bytes[9] = 1
            // A SOA record with the time to live 200 for the root, with empty names.
            bytes += [0, 0, 6, 0, 1, 0, 0, 0, 200, 0, 22, 0, 0] + [UInt8](repeating: 0, count: 16) + [0, 0, 0, time]
        }
        var response = ServerResponse(body: Data(bytes))
        response.headers["Content-Type"] = "application/dns-message"
        return response
    }
}
