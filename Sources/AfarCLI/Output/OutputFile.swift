import Afar
import AfarCore
import ArgumentParser
import Foundation

/// The options for saving a response's body.
struct OutputFileOptions: ParsableArguments {
    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp("Write the body to this file instead of the standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Write the body to a file in the current directory with the name in the URL.")
    var usesRemoteName = false

    func validate() throws {
        if output != nil, usesRemoteName { throw ValidationError("Choose between --output and --remote-name.") }
    }

    /// Returns the options of curl for the same file. curl requires a name in the URL, and uses it as it is written.
    func curlOptions(for url: String) -> [String] {
        guard usesRemoteName else { return output.map { $0 == "-" ? [] : ["--output", $0] } ?? [] }
        let name = FileName.suggested(contentDisposition: nil, url: url)
        let path = url.prefix { !"?#".contains($0) }
        return path.hasSuffix("/\(name)") ? ["--remote-name"] : ["--output", name]
    }

    /// Opens the file for the body of a response; nil for the standard output.
    func file(for url: String) throws -> OutputFile? {
        if usesRemoteName { return try OutputFile(path: FileName.suggested(contentDisposition: nil, url: url)) }
        guard let output, output != "-" else { return nil }
        return try OutputFile(path: output)
    }
}

/// A file that receives a response's body. Its previous contents are kept until a response arrives.
final class OutputFile: Sendable {
    private struct State {
        /// Whether the file was created and nothing has arrived.
        var isUnused: Bool
        var failure: Failure?
    }

    private let path: String
    private let descriptor: Int32
    private let state: Locked<State>

    /// Opens the file for writing, or throws a ``Failure``.
    init(path: String) throws {
        var status = stat()
        let exists = stat(path, &status) == 0
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Failure(.usage, "--output \(path): \(Failure.systemReason).") }
        self.path = path
        state = Locked(State(isUnused: !exists))
    }

    deinit {
        if state.withLock({ $0.isUnused }) { unlink(path) }
        close(descriptor)
    }

    /// Writes the body of each response of the request, replacing the file's contents. Must be called before the request starts.
    func receiveBody(of request: DataRequest) {
        request.onHTTPResponse { [self] _ async in begin() }
        request.stream { [self, weak request] data in
            if !write(data) { request?.cancel() }
        }
    }

    /// Replaces the file's contents.
    func replaceContents(with bytes: Data) {
        begin()
        _ = write(bytes)
    }

    /// Throws the ``Failure`` of the first write that failed.
    func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func begin() {
        state.withLock { $0.isUnused = false }
        // Pipes and devices have no contents.
        if ftruncate(descriptor, 0) == 0 { lseek(descriptor, 0, SEEK_SET) }
    }

    /// Returns whether all bytes were written.
    private func write(_ bytes: Data) -> Bool {
        do {
            try StandardOutput.write(bytes, to: descriptor)
            return true
        } catch {
            let failure = error as? Failure ?? Failure(.other, "--output \(path): the reader has closed the pipe.")
            state.withLock { $0.failure = $0.failure ?? failure }
            return false
        }
    }
}
