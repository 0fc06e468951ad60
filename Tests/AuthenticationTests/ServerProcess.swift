import Foundation
import TestServers

/// A server from the system's packages in a child process. Its folder is removed when the process ends.
final class ServerProcess {
    struct Failure: Error {
        var output: String
    }

    /// The port that the server listens on.
    let port: UInt16
    private let process: Process
    private let reservedPort: ReservedPort

    /// Starts a server on a free port and returns when it accepts connections. `prepare` writes the configuration.
    init(
        _ path: String, _ arguments: [String], in folder: URL, environment: [String: String] = [:],
        prepare: (UInt16) throws -> Void
    ) throws {
        reservedPort = try ReservedPort()
        port = reservedPort.number
        try prepare(port)
        process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let log = folder.appending(path: "server.log")
        try Data().write(to: log)
        let output = try FileHandle(forWritingTo: log)
        process.standardError = output
        try process.run()
        try output.close()
        while !reservedPort.acceptsConnections {
            guard process.isRunning else { throw Failure(output: try String(contentsOf: log, encoding: .utf8)) }
            poll(nil, 0, 10)
        }
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Runs a program until it exits and returns its output.
    @discardableResult
    static func run(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String = ""
    ) throws -> String {
        let (process, output, source) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = source
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try source.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(output: "\(path): \(text)") }
        return text
    }
}

/// A folder that other users can read. It is removed when the object is deallocated.
final class ServerFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "afar-servers-\(UUID().uuidString)")
    var path: String { url.path }

    init() throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ text: String, to name: String) throws {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    }
}
