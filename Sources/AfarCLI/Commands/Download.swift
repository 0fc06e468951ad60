import Afar
import ArgumentParser
import Foundation
import HTTPTypes

struct Download: AsyncParsableCommand, CookieSaving {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Save a resource to a file.",
        usage: "afar download <url> [-o <path>] [<options>]",
        discussion: """
            The file appears when the download is complete, and its path is printed. If the status isn't 2xx, nothing is \
            saved and the exit code is 4.
            """,
        examples: [
            "afar download example.com/archive.tar.gz",
            "afar download example.com/archive.tar.gz -o /tmp/a.tgz --force",
            "afar download :8080/json -o reports/ --no-progress",
            "afar download example.com/large.iso --resume",
            "afar download example.com/large.iso --parallel 4",
        ])

    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "File") var file: FileOptions
    @OptionGroup(title: "Progress") var progress: ProgressOptions
    @OptionGroup(title: "Progress") var messages: MessageOptions
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Request") var jar: CookieJarOptions
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func validate() throws {
        try checkSending()
        guard let parallel = file.parallel else { return }
        guard (1...100).contains(parallel) else { throw ValidationError("--parallel requires a number from 1 to 100.") }
    }

    func run() async throws {
        var plan = try RequestPlan(.get, address, self)
        if plan.canAdd("Accept-Encoding") {
            // Without content coding, the file arrives unchanged and its length is known in advance.
            plan.headers.add(name: "Accept-Encoding", value: "identity")
        }
        try await DownloadRunner(plan: plan, options: self).run()
    }
}

// MARK: - Options

/// The options for a download's destination.
struct FileOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            The destination: a file, or a directory for a file named by the server or the URL. (default: the current \
            directory)
            """,
            valueName: "path"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(
        help: """
            Continue an interrupted download. If this one is interrupted too, its data is kept in PATH.part. Starts over \
            if the file has changed, or if the server doesn't support ranges.
            """)
    var resume = false

    @Option(
        help: ArgumentHelp(
            """
            Request up to this many parts of the file at the same time, if the server supports ranges. Lost connections \
            are resumed.
            """,
            valueName: "number"))
    var parallel: Int?
}

// MARK: - Running a download

/// Sends one request and saves the response body to a file.
struct DownloadRunner {
    let plan: RequestPlan
    let options: Download

    func run() async throws {
        let inspector = Inspector(options.inspection, colors: options.colors)
        if options.inspection.curl { return try inspector.printCurlCommand(for: plan, curlCommand) }
        let target = try DownloadTarget(options.file, url: plan.url)
        try plan.check()
        let interruption = await Interruption()
        let resumable =
            options.file.resume ? try ResumableDownloadDirectory(at: target.partPath, for: plan.urlRequest()) : nil
        if resumable == nil, ResumableDownloadDirectory.exists(at: target.partPath) {
            Messages.note("\(target.partPath) contains an interrupted download. To continue it, add --resume")
        }
        if let parallel = options.file.parallel {
            let directory = try TemporaryDownloadDirectory(beside: target.directoryPath)
            let path = await downloadInParts(parallel, to: target, in: directory, inspector, interruption)
            directory.cleanUp(keeping: nil)
            if case .failure = path { interruption.reraise() }
            return try StandardOutput.write(path.get() + "\n")
        }
        let directory: any DownloadDirectory = try resumable ?? TemporaryDownloadDirectory(beside: target.directoryPath)
        let outcome: Outcome
        do {
            outcome = try await download(to: target, resuming: resumable, inspector, interruption)
        } catch {
            directory.cleanUp(keeping: nil)
            throw error
        }
        directory.cleanUp(keeping: outcome.resumeData)
        if case .failure = outcome.path { interruption.reraise() }
        try StandardOutput.write(outcome.path.get() + "\n")
    }

    private struct Outcome {
        /// The path of the completed file.
        var path: Result<String, Failure>
        /// The partial download that a later run of the tool can resume, if any.
        var resumeData: ResumeData?
    }

    private func curlCommand(showsSecrets: Bool) -> CurlCommand {
        let destination = options.file.output.map { ["--output", $0] } ?? ["--remote-name", "--remote-header-name"]
        let continuation = options.file.resume ? ["--continue-at", "-"] : []
        let messages = options.messages
        let quiet = (messages.silent ? ["--silent"] : []) + (messages.showError ? ["--show-error"] : [])
        return CurlCommand(
            plan, sentWith: options, showsSecrets: showsSecrets,
            more: ["--fail"] + quiet + continuation + destination)
    }

    private func download(
        to target: DownloadTarget, resuming resumable: ResumableDownloadDirectory?, _ inspector: Inspector,
        _ interruption: Interruption
    ) async throws -> Outcome {
        let meter = options.progress.makeMeter(options.colors, options.messages)
        let running = Locked<DownloadRequest?>(nil)
        let session = try options.makeSession(for: plan) { base in
            DestinationCheckTransport(base: inspector.watch(base) { meter.write($0) }, target: target) { head in
                guard let resumable, let request = running.withLock({ $0 }) else { return }
                let next = request.resumableInFlight
                resumable.record(next)
                meter?.begin(at: request.bytesBefore)
                let line = ResumptionReport.line(
                    part: resumable.data, offset: request.bytesBefore, next: next, status: head.status)
                if let line, !options.messages.silent { meter.write("afar: \(line)\n") }
            }
        }
        // Releasing the session would end the request.
        defer { withExtendedLifetime(session) {} }
        let destination: DownloadRequest.Destination = { _, response in
            let path = target.path(contentDisposition: response.headers["Content-Disposition"])
            return (URL(filePath: path), target.options)
        }
        let request = session.download(plan.url, headers: plan.headers, to: destination)
            .validate(statusCode: 200..<300)
            .downloadProgress(queue: DispatchQueue(label: "afar.progress")) { meter?.update($0) }
        running.withLock { $0 = request }
        if let data = resumable?.data { request.resume(from: data) }
        interruption.handle { request.cancel(producingResumeData: resumable != nil) }
        let response = await request.serializingDownloadedFileURL().response
        running.withLock { $0 = nil }
        if let error = response.error {
            meter?.abandon()
            await inspector.showSummary(of: request)
            var failure = failure(error, request.responseHead)
            guard let resumable, let data = response.resumeData else { return Outcome(path: .failure(failure)) }
            failure.message += " The received data is in \(resumable.path). Run the same command again to continue."
            return Outcome(path: .failure(failure), resumeData: try? ResumeData(decoding: data))
        }
        meter?.finish(bytes: request.downloadProgress.completedUnitCount)
        await inspector.showSummary(of: request)
        let disposition = request.responseHead?.value(for: .contentDisposition)
        return Outcome(path: .success(target.path(contentDisposition: disposition)))
    }

    private func failure(_ error: AFError, _ head: ResponseHead?) -> Failure {
        guard error.isResponseValidationError, let head else { return Failure(error, url: plan.url) }
        return statusFailure(head.status, challenges: head.values(for: .wwwAuthenticate))
    }

    /// Returns the failure of a response with an error status. Prints a note if credentials can be missing.
    func statusFailure(_ code: Int, challenges: [String]? = nil) -> Failure {
        UnsentCredentials.report(plan.security, status: code, challenges: challenges)
        let (url, status) = (Redaction.standard.url(plan.url), StatusLine.text(of: code))
        return Failure(.httpStatus, "\(url) returned \(status), which isn't 2xx. Nothing was saved.")
    }
}

// MARK: - Destination

/// A download's destination: a file, or a directory in which the server names the file.
struct DownloadTarget {
    private let url: String
    private let isForced: Bool
    private let isResumed: Bool
    /// The file's path; nil if the server names the file.
    private let path: String?
    /// The file's directory as the user wrote it; empty for the current directory.
    private let directory: String

    /// Creates a destination, or throws a ``Failure`` if it's unusable.
    init(_ options: FileOptions, url: String) throws {
        self.url = url
        (isForced, isResumed) = (options.force, options.resume)
        let output = options.output ?? "."
        guard !output.isEmpty else { throw Failure(.usage, "-o requires a path, but the value is empty.") }
        guard output != "-" else {
            throw Failure(.usage, "A download needs a file. To write to the standard output, use afar get.")
        }
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: output, isDirectory: &isDirectory)
        if exists ? isDirectory.boolValue : output.hasSuffix("/") {
            path = nil
            directory = options.output.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
        } else {
            path = output
            directory = output.lastIndex(of: "/").map { String(output[...$0]) } ?? ""
        }
        guard FileManager.default.fileExists(atPath: directoryPath, isDirectory: &isDirectory), isDirectory.boolValue
        else {
            throw Failure(.usage, "The directory \(directoryPath) doesn't exist. Create it, or choose another with -o.")
        }
        if let path { try checkOverwrite(of: path) }
    }

    /// The file's directory for system calls: `.` for the current directory.
    var directoryPath: String { directory.isEmpty ? "." : directory }

    /// Returns the file's path for a response with this Content-Disposition.
    func path(contentDisposition: String?) -> String {
        path ?? directory + FileName.suggested(contentDisposition: contentDisposition, url: url)
    }

    /// The path for a partial download. The path doesn't depend on the server's file name, so later runs of the tool find the
    /// partial download.
    var partPath: String { path(contentDisposition: nil) + ".part" }

    var options: DownloadRequest.Options { isForced ? .removePreviousFile : [] }

    /// Throws a ``Failure`` if an item exists at the path and the download can't replace it.
    func checkOverwrite(of path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "\(path) already exists and isn't a regular file. Choose another with -o.")
        }
        guard isForced else {
            let reason = isResumed ? " Only a download that was started with --resume can be continued." : ""
            throw Failure(
                .usage, "\(path) already exists. Replace it with --force, or choose another with -o.\(reason)")
        }
    }
}

/// Checks the destination when the response head arrives. If the file already exists, the download then fails before the body
/// is transferred.
struct DestinationCheckTransport: Transport {
    let base: any Transport
    let target: DownloadTarget
    /// Called with a head whose body is going to be received.
    let onFinalHead: @Sendable (ResponseHead) -> Void

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        var exchange = exchange
        exchange.decide = { [next = exchange.decide, target, onFinalHead] head in
            let decision = next?(head) ?? .take()
            guard case .take = decision, !head.isRedirect else { return decision }
            onFinalHead(head)
            guard (200..<300).contains(head.status) else { return decision }
            do {
                try target.checkOverwrite(of: target.path(contentDisposition: head.value(for: .contentDisposition)))
            } catch {
                return .refuse(error)
            }
            return decision
        }
        return try await base.send(exchange)
    }

    func closeIdleConnections() { base.closeIdleConnections() }
}
