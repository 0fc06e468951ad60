import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

/// The built executable.
enum Tool {
    struct Outcome {
        /// The exit code, or the negative number of the signal that terminated the process.
        var status: Int32
        var output: Data
        var errors: String

        var text: String { String(decoding: output, as: UTF8.self) }

        /// Returns the JSON object that the tool printed.
        func json() throws -> NSDictionary {
            guard let object = try JSONSerialization.jsonObject(with: output) as? NSDictionary else { throw NoObject() }
            return object
        }
    }

    /// Limits the number of concurrent processes. Dozens of them would slow down other tests, some of which measure
    /// time.
    private static let turns = Turnstile(places: 3)

    struct NoObject: Error {}
    struct NotBuilt: Error { var path: String }

    /// Returns the location of the executable next to the running test bundle.
    static func url() throws -> URL {
        let folder = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])).deletingLastPathComponent()
        let tool = folder.appending(path: "afar")
        guard FileManager.default.isExecutableFile(atPath: tool.path) else { throw NotBuilt(path: tool.path) }
        return tool
    }

    /// Runs the tool and returns when it has exited.
    ///
    /// - Parameters:
    ///   - input: The standard input; empty by default.
    ///   - environment: Variables in addition to those of this process.
    static func run(
        _ arguments: String..., input: Data? = nil, environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await run(arguments, input: input, environment: environment)
    }

    /// Runs the tool and performs an action while it runs.
    ///
    /// - Parameters:
    ///   - directory: The working directory.
    ///   - waitsInLine: Whether this process counts toward the limit on concurrent processes. Pass `false` if a test
    ///     starts many of them.
    ///   - during: A closure that receives the process ID while the tool runs.
    static func run(
        _ arguments: [String], input: Data? = nil, environment: [String: String] = [:], directory: URL? = nil,
        waitsInLine: Bool = true, during: @Sendable (Int32) async throws -> Void = { _ in }
    ) async throws -> Outcome {
        try await run(
            executable: url(), arguments, input: input, environment: environment, directory: directory,
            waitsInLine: waitsInLine, during: during)
    }

    /// Runs a line of bash, in which `$afar` is the path of the tool.
    static func bash(
        _ line: String, environment: [String: String] = [:], directory: URL? = nil,
        during: @Sendable (Int32) async throws -> Void = { _ in }
    ) async throws -> Outcome {
        var environment = environment
        environment["afar"] = try url().path
        return try await run(
            executable: URL(filePath: "/bin/bash"), ["-c", line], environment: environment, directory: directory,
            during: during)
    }

    /// Runs a command line of any length in the system's shell.
    static func sh(_ line: String) async throws -> Outcome {
        try await run(executable: URL(filePath: "/bin/sh"), ["-s"], input: Data(line.utf8), environment: [:])
    }

    /// Runs the tool with a terminal as its standard output.
    ///
    /// - Parameters:
    ///   - isInteractive: Whether the terminal is also the standard input, as it is in a shell.
    ///   - showsErrors: Whether the terminal is also the standard error stream.
    ///   - onOutput: A closure that receives the complete output so far whenever there is more.
    static func runOnTerminal(
        _ arguments: String..., isInteractive: Bool = false, showsErrors: Bool = false,
        environment: [String: String] = [:],
        onOutput: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Outcome {
        try await runOnTerminal(
            arguments, isInteractive: isInteractive, showsErrors: showsErrors, environment: environment,
            onOutput: onOutput)
    }

    static func runOnTerminal(
        _ arguments: [String], isInteractive: Bool = false, showsErrors: Bool = false,
        environment: [String: String] = [:],
        onOutput: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Outcome {
        try await run(
            executable: url(), arguments, environment: environment, output: PseudoTerminal(),
            isInteractive: isInteractive, showsErrors: showsErrors, onTerminalOutput: onOutput)
    }

    /// Runs the tool with a terminal only as its standard error stream.
    ///
    /// - Parameter onOutput: A closure that receives the complete output so far whenever there is more.
    static func runWithErrorsOnTerminal(
        _ arguments: String..., columns: UInt16 = 80, environment: [String: String] = [:], directory: URL? = nil,
        onOutput: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Outcome {
        try await run(
            executable: url(), arguments, environment: environment, directory: directory,
            errorOutput: PseudoTerminal(columns: columns), onTerminalOutput: onOutput)
    }

    private static func run(
        executable: URL, _ arguments: [String], input: Data? = nil, environment: [String: String],
        directory: URL? = nil, output: PseudoTerminal? = nil, errorOutput: PseudoTerminal? = nil,
        isInteractive: Bool = false, showsErrors: Bool = false, waitsInLine: Bool = true,
        onTerminalOutput: @escaping @Sendable (String) -> Void = { _ in },
        during: @Sendable (Int32) async throws -> Void = { _ in }
    ) async throws -> Outcome {
        if waitsInLine { await turns.enter() }
        defer { if waitsInLine { turns.leave() } }
        let variables = ProcessInfo.processInfo.environment
            .filter { $0.key != "NO_COLOR" && !$0.key.lowercased().hasSuffix("_proxy") }
            .merging(["TERM": "xterm"]) { $1 }
            .merging(environment) { $1 }
        let pipe = output == nil ? Pipe() : nil
        let errorPipe = errorOutput == nil ? Pipe() : nil
        let inputPipe = input.map { _ in Pipe() }
        let null = FileHandle(fileDescriptor: open("/dev/null", O_RDONLY | O_CLOEXEC), closeOnDealloc: true)
        let (started, starting) = AsyncStream.makeStream(of: Int32.self)
        let onOutput = output.map { _ in onTerminalOutput }
        let onErrors = errorOutput.map { _ in onTerminalOutput }
        async let bytes = read(output?.outputEnd ?? pipe?.fileHandleForReading, onText: onOutput)
        async let errors = read(errorOutput?.outputEnd ?? errorPipe?.fileHandleForReading, onText: onErrors)
        async let action: Void = { for await id in started { try await during(id) } }()
        // These ends are closed after the start, so that the readers reach the end when the tool exits.
        let ends = [
            output?.toolEnd ?? pipe?.fileHandleForWriting, errorOutput?.toolEnd ?? errorPipe?.fileHandleForWriting,
        ]
        defer { starting.finish() }
        let process: ChildProcess
        do {
            defer { for end in ends { try? end?.close() } }
            process = try ChildProcess(
                executable, arguments, environment: variables, directory: directory,
                descriptors: (
                    (isInteractive ? ends[0] : inputPipe?.fileHandleForReading ?? null)?.fileDescriptor ?? -1,
                    ends[0]?.fileDescriptor ?? -1,
                    ends[showsErrors ? 0 : 1]?.fileDescriptor ?? -1
                ))
        }
        starting.yield(process.id)
        starting.finish()
        async let status = process.end()
        if let input, let inputPipe {
            try inputPipe.fileHandleForWriting.write(contentsOf: input)
            try inputPipe.fileHandleForWriting.close()
        }
        try await action
        return Outcome(
            status: await status, output: await bytes, errors: String(decoding: await errors, as: UTF8.self))
    }

    /// Reads all bytes on a dedicated thread.
    ///
    /// `FileHandle` isn't used, because reading a closed terminal fails with EIO, and `FileHandle` then discards the
    /// data that it has already read.
    ///
    /// - Parameter onText: A closure that receives the complete text so far whenever there is more.
    private static func read(_ handle: FileHandle?, onText: (@Sendable (String) -> Void)?) async -> Data {
        guard let handle else { return Data() }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var bytes = Data()
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                while true {
                    let count = systemRead(handle.fileDescriptor, &buffer, buffer.count)
                    if count > 0 {
                        bytes += buffer[..<count]
                        onText?(String(decoding: bytes, as: UTF8.self))
                    } else if count == 0 || errno != EINTR {
                        break
                    }
                }
                continuation.resume(returning: bytes)
            }
        }
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

extension Failure {
    /// Returns the failure of a command line that the parser rejects. Doesn't start the tool.
    static func ofParsing(_ arguments: [String]) throws -> Failure {
        let error = try #require(throws: (any Error).self) { try AfarTool.parseAsRoot(arguments) }
        let text = AfarTool.fullMessage(for: error)
        return try #require(Failure(parserText: text, arguments: ["afar"] + arguments, commands: AfarTool.commandNames))
    }
}
