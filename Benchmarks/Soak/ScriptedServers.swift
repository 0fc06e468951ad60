import AfarTestServer
import Foundation
import Servers

/// The servers that run scripts, in another process, so that their resources aren't counted as the client's.
struct ScriptedServers {
    /// The argument that makes this program run the servers.
    static let command = "serve"

    private let ports: [String: UInt16]
    // The other process exits when this pipe is closed.
    private let input = Pipe()

    /// Starts the process and returns when its servers accept connections.
    init() throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = Executable.folder.appending(path: "Soak")
        process.arguments = [Self.command]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        Cleanup.shared.add(process)
        ports = try JSONDecoder().decode(
            [String: UInt16].self, from: output.fileHandleForReading.readToEnd() ?? Data())
    }

    func url(_ script: Script) -> String { "http://127.0.0.1:\(ports[script.rawValue] ?? 0)/" }

    /// Runs the servers. This is the entry point of the other process.
    static func serve() async throws {
        var servers: [RawServer] = []
        var ports: [String: UInt16] = [:]
        for script in Script.allCases {
            let server = try await RawServer.start(script.steps)
            ports[script.rawValue] = server.port
            servers.append(server)
        }
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(ports))
        try FileHandle.standardOutput.close()
        _ = try FileHandle.standardInput.readToEnd()
        withExtendedLifetime(servers) {}
    }
}
