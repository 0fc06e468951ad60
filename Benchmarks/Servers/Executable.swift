package import Foundation

/// Functions that find and run programs.
package enum Executable {
    /// The folder that contains this program and the other build products.
    package static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    /// Returns the location of a program on the search path.
    package static func find(_ name: String) throws -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin"]
        let files = folders.map { URL(filePath: $0).appending(path: name) }
        guard let file = files.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw Failure("\(name) is not installed")
        }
        return file
    }

    /// Starts a server and returns when it accepts connections. It runs until the cleanup.
    package static func serve(_ name: String, _ arguments: [String], on port: UInt16) throws {
        let process = Process()
        process.executableURL = try find(name)
        process.arguments = arguments
        try process.run()
        Cleanup.shared.add(process)
        while !LoopbackPort.accepts(port) {
            guard process.isRunning else { throw Failure("\(name) exited; see its messages above") }
            usleep(10_000)
        }
    }

    /// Runs a program until it exits and returns its standard output.
    package static func run(
        _ file: URL, _ arguments: [String], environment: [String: String] = [:],
        standardError: FileHandle = .standardError
    ) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = file
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = standardError
        try process.run()
        Cleanup.shared.add(process)
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        Cleanup.shared.forget(process)
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Failure("\(file.lastPathComponent) \(arguments.joined(separator: " ")) failed")
        }
        return data
    }
}
