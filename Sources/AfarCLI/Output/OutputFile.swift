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

/// A file that receives a response's body.
///
/// The file is opened when a response with content arrives. Until then, and if the request fails, it isn't created or changed. If
/// the connection is lost later, the file contains the part of the body that has arrived.
final class OutputFile: Sendable {
    private struct State {
        var handle: FileHandle?
        /// Where the body begins. The file of a descriptor that the caller opened can already have contents.
        var start: off_t = 0
        /// Whether the body of another response can replace what has been written.
        var isRepeatable = true
        /// Whether the body of the current response is written.
        var isReceiving = false
        var failure: Failure?
    }

    private let path: String
    private let state = Locked(State())
    /// The queue that opens the file. Opening a named pipe waits for its reader.
    private let queue = DispatchQueue(label: "afar.output-file")

    /// Checks that the file can be written, as far as that is possible without opening it, or throws a ``Failure``.
    init(path: String) throws {
        self.path = path
        if let reason = Self.obstacle(to: path) { throw Failure(.usage, "--output \(path): \(reason).") }
    }

    /// Returns the reason that a file can't be written, if there is one.
    private static func obstacle(to path: String) -> String? {
        if let number = openDescriptor(of: path) {
            return fcntl(number, F_GETFD) == -1 ? Failure.systemReason : nil
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT, !path.isEmpty, !path.hasSuffix("/") else { return Failure.systemReason }
            let folder = URL(filePath: path).deletingLastPathComponent().path
            return access(folder, W_OK | X_OK) == 0 ? nil : Failure.systemReason
        }
        if status.st_mode & S_IFMT == S_IFDIR { return Failure.systemReason(of: EISDIR) }
        return access(path, W_OK) == 0 ? nil : Failure.systemReason
    }

    /// Returns the descriptor that a path such as /dev/stdout or /dev/fd/63 stands for. Opening this path on Linux would
    /// open the file again, at its beginning.
    private static func openDescriptor(of path: String) -> Int32? {
        switch path {
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            let prefix = ["/dev/fd/", "/proc/self/fd/"].first(where: path.hasPrefix)
            return prefix.flatMap { Int32(path.dropFirst($0.count)) }
        }
    }

    /// Writes the body of each response of the request, replacing the file's contents. Must be called before the request starts.
    ///
    /// - Parameters:
    ///   - timeLimit: The maximum time from now until a named pipe has a reader, in seconds; nil without a limit.
    ///   - isAccepted: Returns whether the body of a response with a status is written.
    func receiveBody(
        of request: DataRequest, method: HTTPMethod, timeLimit: Double?,
        where isAccepted: @escaping @Sendable (_ status: Int) -> Bool
    ) {
        let deadline = timeLimit.map { ContinuousClock.now + .seconds($0) }
        request.onHTTPResponse(on: queue) { [self, weak request] response, answer in
            // A response to HEAD and a 304 have no content (RFC 9110, sections 9.3.2 and 15.4.5).
            let isReceiving = method != .head && response.statusCode != 304 && isAccepted(response.statusCode)
            state.withLock { $0.isReceiving = isReceiving }
            let mustWait = { request?.isCancelled == false && deadline.map { ContinuousClock.now < $0 } != false }
            answer(!isReceiving || begin(whileWaiting: mustWait) ? .allow : .cancel)
        }
        let id = request.id
        request.stream { [self, weak request] data in
            guard state.withLock({ $0.isReceiving }) else { return }
            if !state.withLock({ $0.isRepeatable }) { UnrepeatableOutput.add(Int64(data.count), to: path, for: id) }
            if !write(data) { request?.cancel() }
        }
    }

    /// Replaces the file's contents.
    func replaceContents(with bytes: Data) {
        if begin(whileWaiting: { true }) { _ = write(bytes) }
    }

    /// Throws the ``Failure`` of the first operation that failed.
    func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Opens the file, and removes its contents. Returns whether that succeeded.
    ///
    /// - Parameter mustWait: Returns whether to wait longer for the reader of a named pipe.
    private func begin(whileWaiting mustWait: () -> Bool) -> Bool {
        if let handle = state.withLock({ $0.handle }) {
            // A retry replaces an earlier body. Pipes and devices have no contents.
            let start = state.withLock { $0.start }
            if ftruncate(handle.fileDescriptor, start) == 0 { lseek(handle.fileDescriptor, start, SEEK_SET) }
            return true
        }
        let descriptor =
            Self.openDescriptor(of: path).map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
            ?? open(whileWaiting: mustWait)
        guard descriptor >= 0 else {
            let code = errno
            fail(
                code == ENXIO && isNamedPipe
                    ? Failure(.timeout, "--output \(path): no process has opened it for reading within the time limit.")
                    : Failure(.other, "--output \(path): \(Failure.systemReason(of: code))."))
            return false
        }
        let isAppending = fcntl(descriptor, F_GETFL) & O_APPEND != 0
        let start = max(0, lseek(descriptor, 0, isAppending ? SEEK_END : SEEK_CUR))
        state.withLock {
            $0.handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            $0.start = start
            $0.isRepeatable = Self.isRepeatable(descriptor)
        }
        return true
    }

    /// Returns a descriptor of the file, or -1.
    ///
    /// Opening a named pipe waits for its reader, which no time limit could end.
    private func open(whileWaiting mustWait: () -> Bool) -> Int32 {
        while true {
            let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0o666)
            let code = errno
            if descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) }
            // A named pipe without a reader.
            guard descriptor < 0, code == ENXIO, isNamedPipe, mustWait() else {
                errno = code
                return descriptor
            }
            usleep(10_000)
        }
    }

    private var isNamedPipe: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// Returns whether the descriptor is a regular file or the null device.
    private static func isRepeatable(_ descriptor: Int32) -> Bool {
        var (status, null) = (stat(), stat())
        guard fstat(descriptor, &status) == 0 else { return true }
        let isNull =
            stat("/dev/null", &null) == 0 && status.st_mode & S_IFMT == S_IFCHR && status.st_rdev == null.st_rdev
        return isNull || status.st_mode & S_IFMT == S_IFREG
    }

    /// Returns whether all bytes were written.
    private func write(_ bytes: Data) -> Bool {
        guard let handle = state.withLock({ $0.handle }) else { return true }
        do {
            try StandardOutput.write(bytes, to: handle.fileDescriptor)
            return true
        } catch {
            fail(error as? Failure ?? Failure(.other, "--output \(path): the reader has closed the pipe."))
            return false
        }
    }

    private func fail(_ failure: Failure) { state.withLock { $0.failure = $0.failure ?? failure } }
}

/// Prevents a retry after a part of the body has been written to a pipe or a device, from which it can't be removed.
struct UnrepeatableOutput: RequestInterceptor {
    private struct Part {
        var path: String
        var count: Int64
    }

    private static let written = Locked<[UUID: Part]>([:])

    let policy: RetryPolicy

    /// Adds to the number of bytes that a request has written.
    static func add(_ count: Int64, to path: String, for request: UUID) {
        written.withLock { $0[request, default: Part(path: path, count: 0)].count += count }
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let part = Self.written.withLock({ $0[request.id] }), let cause = error.asAFError,
            request.retryCount < policy.retryLimit, policy.shouldRetry(request: request, dueTo: error)
        else { return completion(.doNotRetry) }
        let reason = Failure(cause, url: request.lastRequest?.url?.absoluteString ?? "")
        let size = part.count == 1 ? "1 byte" : "\(part.count) bytes"
        completion(
            .doNotRetryWithError(
                Failure(
                    reason.status,
                    "\(reason.message) The request was not retried, because --output \(part.path) has already received \(size) of "
                        + "the body. Write the body to a file instead.")))
    }
}
