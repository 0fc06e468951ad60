import AfarTestServer
import Foundation
import TestServers
import Testing

/// Runs the commands of the table of everyday tasks in Docs/Command-Line.md, and compares what arrives at the server.
@Suite(.timeLimit(.minutes(10)))
struct TaskTableTests {
    /// A row of the table.
    struct Task: CustomTestStringConvertible {
        var name: String
        /// The commands of afar, HTTPie and curl; nil for a task that the tool can't do.
        var commands: [String?]
        var testDescription: String { name }
    }

    /// What a command line has caused.
    private struct Effect: Equatable {
        var requestCount = 0
        var requests: [String: RecordedRequest] = [:]
        var isSuccess: Bool
        var files: [String: String] = [:]
    }

    private static let hasHTTPie = FileManager.default.isExecutableFile(atPath: "/usr/bin/http")

    static func tasks() throws -> [Task] {
        let lines = try Pages.text(Pages.guide).components(separatedBy: "\n")
        let start = lines.firstIndex { $0.hasPrefix("| Task |") } ?? lines.endIndex
        return lines[start...].dropFirst(2).prefix { $0.hasPrefix("| ") }.map { line in
            let cells = line.replacing("\\|", with: "\0").split(separator: "|").map {
                $0.replacing("\0", with: "|").trimmingCharacters(in: .whitespaces)
            }
            return Task(
                name: cells[0],
                commands: cells.dropFirst().map { $0 == "–" ? nil : $0.trimmingCharacters(in: ["`"]) })
        }
    }

    @Test func theTableHasFortyTasks() throws {
        let tasks = try Self.tasks()
        #expect(tasks.count >= 40)
        for task in tasks { #expect(task.commands.count == 3 && task.commands[0] != nil, "\(task.name)") }
    }

    @Test(
        .enabled(if: hasHTTPie, "HTTPie isn't installed. Run make test-packages."), arguments: try tasks())
    func allToolsSendTheSame(task: Task) async throws {
        let afar = try await effect(of: task.commands[0] ?? "", in: task)
        #expect(afar.requestCount > 0 || task.commands[0]?.contains("--offline") == true)
        for command in task.commands.dropFirst() {
            guard let command else { continue }
            let effect = try await effect(of: command, in: task)
            #expect(effect == afar, "\(command)")
        }
    }

    private func effect(of command: String, in task: Task) async throws -> Effect {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        try directory.write("hello\n", to: "note.txt")
        try directory.write("{\"name\":\"Ada\"}", to: "data.json")
        try directory.write("not a real image", to: "photo.png")
        if task.name.contains(".netrc") {
            try directory.write("machine localhost login ada password lovelace\n", to: ".netrc")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: directory.url.appending(path: ".netrc").path)
        }
        let certificates = try TestCertificates.shared.get()
        for (name, file) in [("ca.pem", "root.crt"), ("client.pem", "client-a.crt"), ("client.key", "client-a.key")] {
            try certificates.data(file).write(to: directory.url.appending(path: name))
        }
        let needsFront = task.commands.contains { $0?.contains(/8443|3128|app\.sock/) == true }
        let front = needsFront ? try await FrontServer(for: server, in: directory.url, certificates) : nil
        var line = command.replacing(":8080", with: ":\(server.url.port ?? 0)")
        if let front {
            line = line.replacing(":8443", with: ":\(front.securePort)").replacing(":3128", with: ":\(front.proxyPort)")
        }
        let before = Set(try FileManager.default.subpathsOfDirectory(atPath: directory.url.path))
        let tools = try Tool.url().deletingLastPathComponent().path
        // HTTPie reads an empty standard input as a body.
        let outcome = try await Tool.bash(
            """
            PATH='\(tools)':$PATH
            http() { if [ /dev/stdin -ef /dev/null ]; then command http --ignore-stdin "$@"; else command http "$@"; fi; }
            \(line)
            """,
            environment: ["HOME": directory.url.path, "NETRC": "\(directory.url.path)/.netrc"], directory: directory.url
        )
        var effect = Effect(requestCount: server.requestCount, isSuccess: outcome.status == 0)
        let paths = task.commands.compactMap(\.self).flatMap { command in
            command.matches(of: /(?::\d+|\.example)(\/[a-z0-9\/\-]+)/).map { String($0.output.1) }
        }
        for path in Set(paths + ["/get"]) {
            effect.requests[path] = server.lastRequest(path: path).map { RecordedRequest($0, isLenient: true) }
        }
        for path in try FileManager.default.subpathsOfDirectory(atPath: directory.url.path)
        where !before.contains(path) && !path.contains("jar") && !path.hasPrefix(".") {
            effect.files[path] = String(decoding: (try? directory.contents(of: path)) ?? Data(), as: UTF8.self)
                .filter { !$0.isWhitespace }
        }
        if effect.isSuccess == false, !command.contains("404") { Issue.record("\(command): \(outcome.errors)") }
        await server.stop()
        return effect
    }
}

/// An nginx server with TLS, a Unix socket and a proxy in front of a test server.
private final class FrontServer: Sendable {
    private let ports: [ReservedPort]
    private let nginx: TestServers.ChildProcess

    var securePort: UInt16 { ports[0].number }
    var proxyPort: UInt16 { ports[1].number }

    init(for server: TestServer, in folder: URL, _ certificates: TestCertificates) async throws {
        ports = [try ReservedPort(), try ReservedPort()]
        let home = folder.appending(path: ".nginx").path
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(home)/\($0);" }
        let good = certificates.file("good").path
        try """
        daemon off; master_process off; pid \(home)/pid; error_log stderr;
        events {}
        http {
          \(temporary.joined(separator: " ")) access_log off;
          proxy_set_header X-Client $ssl_client_s_dn; proxy_set_header X-Version $server_protocol;
          server {
            listen 127.0.0.1:\(ports[0].number) ssl http2; listen unix:\(folder.path)/app.sock;
            ssl_certificate \(good).pem; ssl_certificate_key \(good).key;
            ssl_verify_client optional; ssl_client_certificate \(certificates.authority.path);
            location / { proxy_pass http://127.0.0.1:\(server.url.port ?? 0); }
          }
          server {
            listen 127.0.0.1:\(ports[1].number);
            proxy_set_header X-Line $request;
            location / { proxy_pass http://127.0.0.1:\(server.url.port ?? 0); }
          }
        }
        """.write(toFile: "\(home)/nginx.conf", atomically: true, encoding: .utf8)
        nginx = try TestServers.ChildProcess(
            ["nginx", "-p", home, "-e", "error.log", "-c", "nginx.conf"], output: URL(filePath: "\(home)/error.log"))
        try await nginx.wait { ports.allSatisfy(\.acceptsConnections) }
    }

    deinit { nginx.stop() }
}
