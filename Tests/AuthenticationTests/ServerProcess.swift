import Foundation
import TestServers

/// A server of the system's packages, as a process of its own with its files in a folder that ends with it.
final class ServerProcess {
    struct Failure: Error {
        var output: String
    }

    /// Where it listens.
    let port: UInt16
    private let process: Process
    private let reservedPort: ReservedPort

    /// Starts a server on a free port, for which `prepare` writes its configuration. Returns when the server accepts connections.
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

    /// Runs a program to its end, and returns what it has written.
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

/// A folder that other users may read, and that is removed with this value.
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
