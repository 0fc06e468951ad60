import Afar
import AfarCore
import ArgumentParser
import Foundation

struct Upload: ResponseCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Send a file or a multipart form.",
        usage: "afar upload <url> --file <path> | --part <part> ... [<options>]",
        discussion: """
            Streams the file and prints the response like the other commands. Progress is shown on the standard error stream.
            """,
        examples: [
            "afar upload :8080/upload --file archive.tar.gz",
            "afar upload :8080/put --method PUT --file note.txt --type text/markdown",
            "afar upload :8080/post --part name=Ada --part picture=@ada.png",
            "afar upload :8080/post --part 'picture=@a.png;filename=ada.png'",
            "gzip < note.txt | afar upload :8080/upload --file - -H 'X-Name: note.gz'",
            "afar upload example.com/files --file disk.img --resumable tus",
        ])

    @OptionGroup(title: "Upload") var upload: UploadOptions
    @OptionGroup(title: "Progress") var progress: ProgressOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Request") var jar: CookieJarOptions
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Output") var messages: MessageOptions
    @OptionGroup(title: "File") var file: OutputFileOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let method = HTTPMethod(rawValue: upload.method.uppercased())
        guard method != .get, method != .head else {
            throw Failure(.usage, "A \(method.rawValue) request has no body. Choose another --method, such as PUT.")
        }
        var plan = try RequestPlan(method, address, self)
        let content = try UploadContent(upload, headers: plan.headers)
        if let choice = upload.resumable {
            guard case .file(.plain(let path), let type) = content else {
                throw Failure(.usage, "--resumable requires a regular file. Specify it with --file.")
            }
            if choice != .tus, plan.canAdd("Content-Type") { plan.headers.add(.contentType(type)) }
            let runner = ResumableUploadRunner(
                plan: plan, path: path, type: type, choice: choice, record: upload.state, progress: progress,
                options: self)
            return try await runner.run()
        }
        if let type = content.type, plan.canAdd("Content-Type") { plan.headers.add(.contentType(type)) }
        try await UploadRunner(
            plan: plan, content: content, progress: progress, options: self,
            file: inspection.curl ? nil : file.file(for: plan.url), curlOptions: file.curlOptions(for: plan.url)
        ).run()
    }
}

// MARK: - Options

/// The options for an upload.
struct UploadOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("A file to send unchanged, or - for the standard input.", valueName: "path|-"),
        completion: .file())
    var file: String?

    @Option(
        name: [.customShort("F", allowingJoined: true), .long], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A part of a form: name=value, name=@path for a file, or name=<path for the text in a file. To override the file's type or name, append ;type=… or \
            ;filename=… to the path. Can be repeated.
            """,
            valueName: "part"))
    var part: [String] = []

    @Option(help: ArgumentHelp("The file's content type. (default: by its extension)", valueName: "type"))
    var type: String?

    @Option(name: [.customShort("X", allowingJoined: true), .long], help: "The method.")
    var method = "POST"

    @Option(
        help: ArgumentHelp(
            """
            Continue the upload of a file after interruptions, with a protocol that the server supports: tus, draft \
            ("Resumable Uploads for HTTP") or an interop version of the draft, such as draft-6.
            """,
            valueName: "protocol"))
    var resumable: ResumableProtocolChoice?

    @Option(
        help: ArgumentHelp(
            """
            With --resumable, the file from which the same command continues. It is removed after success. (default: the \
            file's path with .afar-upload)
            """,
            valueName: "path"),
        completion: .file())
    var state: String?
}

// MARK: - Running an upload

/// Sends a file or a form and prints the response.
struct UploadRunner {
    let plan: RequestPlan
    let content: UploadContent
    let progress: ProgressOptions
    let options: any ResponseCommand
    /// The file for the response's body; nil to print it.
    let file: OutputFile?
    /// curl's options for the same file.
    let curlOptions: [String]

    func run() async throws {
        let inspector = Inspector(options)
        if options.inspection.curl { return try inspector.printCurlCommand(for: plan, curlCommand) }
        // Cancellation removes the temporary file of a form.
        let interruption = await Interruption()
        let meter = options.output.offline ? nil : progress.makeMeter(options.colors, options.messages)
        let session = try options.makeSession(for: plan) { inspector.watch($0) { meter.write($0) } }
        // Releasing the session would end the request.
        defer { withExtendedLifetime(session) {} }
        let request = content.request(plan, in: session)
            .uploadProgress(queue: DispatchQueue(label: "afar.progress")) { meter?.update($0) }
        Retries(options.sending).apply(to: request)
        interruption.handle { request.cancel() }
        let report = ResponseReport(plan: plan, options: options, inspector: inspector, file: file)
        let response = await report.response(of: request)
        // A server can respond before it has received everything.
        let sent = request.uploadProgress
        if response.error == nil, sent.totalUnitCount <= sent.completedUnitCount {
            meter?.finish(bytes: sent.completedUnitCount)
        } else {
            meter?.abandon()
        }
        interruption.reraise()
        try await report.print(response, of: request)
    }

    private func curlCommand(showsSecrets: Bool) -> CurlCommand {
        var command = CurlCommand(plan, options, showsSecrets: showsSecrets, more: curlOptions)
        command.body = content.curlBody(Redaction(showsSecrets: showsSecrets))
        return command
    }
}

// MARK: - Content

/// The content of an upload.
enum UploadContent {
    case file(InputFile, type: String)
    case form([FormPart])

    /// Creates the content that the options describe, or throws a ``Failure`` if they are invalid.
    init(_ options: UploadOptions, headers: HTTPHeaders) throws {
        switch (options.file, options.part.isEmpty) {
        case (let path?, true):
            guard options.type == nil || headers["Content-Type"] == nil else {
                throw Failure(.usage, "--type and -H Content-Type both set the content type. Choose one.")
            }
            self = .file(try InputFile(path: path), type: options.type ?? MIMETypes.type(ofFileNamed: path))
        case (nil, false):
            guard options.type == nil, headers["Content-Type"] == nil else {
                throw Failure(
                    .usage, "A form has a fixed content type. To set the type of a part, append ;type=… to its path.")
            }
            self = .form(try options.part.map { try FormPart($0) })
        case (nil, true):
            throw Failure(
                .usage, "Nothing to upload. Specify a file with --file, or form parts with --part.")
        case (_?, false):
            throw Failure(.usage, "An upload has one body: choose between --file and --part.")
        }
    }

    /// The content type; nil for a form, because the library sets it.
    var type: String? {
        if case .file(_, let type) = self { type } else { nil }
    }

    func request(_ plan: RequestPlan, in session: Session) -> UploadRequest {
        switch self {
        case .file(.plain(let path), _):
            return session.upload(URL(filePath: path), to: plan.url, method: plan.method, headers: plan.headers)
        case .file(.stream(let bytes), _):
            return session.upload(
                bytes.chunks, length: bytes.length, to: plan.url, method: plan.method, headers: plan.headers)
        case .form(let parts):
            return session.upload(parts, for: plan)
        }
    }

    /// Returns the equivalent body for curl.
    func curlBody(_ redaction: Redaction) -> CurlCommand.Body {
        switch self {
        case .file(.plain(let path), _): .file(path: path)
        case .file(.stream, _): .standardInput
        case .form(let parts): .form(words: parts.flatMap { $0.curlWords(redaction) })
        }
    }
}

// MARK: - Files

/// The value of `--file`.
enum InputFile {
    /// A regular file, which has a length and can be read again.
    case plain(path: String)
    /// Standard input, a pipe or a device.
    case stream(ByteStream)

    /// Opens the file; `-` is standard input.
    init(path: String) throws {
        var status = stat()
        guard path != "-" else {
            self = .stream(ByteStream(descriptor: STDIN_FILENO))
            return
        }
        guard stat(path, &status) == 0 else {
            throw Failure(.usage, "--file \(path): \(Failure.systemReason).")
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw Failure(.usage, "--file \(path) is a directory. Pipe an archive of it to afar upload URL --file -.")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(.usage, "--file \(path): \(Failure.systemReason).")
        }
        if status.st_mode & S_IFMT == S_IFREG {
            close(descriptor)
            self = .plain(path: path)
        } else {
            self = .stream(ByteStream(descriptor: descriptor))
        }
    }
}

/// Bytes that are read from a file descriptor while they are sent.
struct ByteStream {
    let descriptor: Int32

    /// The number of remaining bytes; nil if it's unknown, as for a pipe.
    var length: Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return max(0, Int64(status.st_size) - Int64(lseek(descriptor, 0, SEEK_CUR)))
    }

    /// The bytes as they arrive. Reads block a dispatch queue instead of a task, and canceled tasks don't wait for reads.
    var chunks: AsyncThrowingStream<Data, any Error> {
        let queue = DispatchQueue(label: "afar.input")
        return AsyncThrowingStream { [descriptor] in
            let chunk = Deferred<Result<Data?, any Error>>()
            return try await withTaskCancellationHandler {
                queue.async { chunk.fulfill(Result { try Self.read(descriptor) }) }
                return try await chunk.value.get()
            } onCancel: {
                chunk.fulfill(.failure(CancellationError()))
            }
        }
    }

    /// Returns the available bytes, at most 128 KiB, or nil at the end.
    private static func read(_ descriptor: Int32) throws -> Data? {
        var buffer = [UInt8](repeating: 0, count: 128 * 1024)
        while true {
            let count = systemRead(descriptor, &buffer, buffer.count)
            if count >= 0 { return count == 0 ? nil : Data(buffer[..<count]) }
            if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw Failure(.other, "The input cannot be read: \(Failure.systemReason).")
            }
        }
    }
}

/// Calls the system's `read`. In ``ByteStream``, a method with the same name shadows it.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

// MARK: - Parts of a form

/// A part of a form in the syntax of curl's `-F`: `name=value`, or `name=@path;type=image/png;filename=x`.
struct FormPart: Equatable {
    enum Content: Equatable {
        case text(String, type: String? = nil)
        case file(path: String, type: String, name: String)
    }

    var name: String
    var content: Content

    init(name: String, content: Content) { (self.name, self.content) = (name, content) }

    /// Parses a part as curl does. A value, path, type or file name can be in double quotes. Within the quotes, a backslash escapes
    /// quotes and backslashes. A quoted value is text, even if it begins with `@`.
    init(_ text: String) throws {
        let pair = try NamedValue(text, option: "--part")
        try self.init(name: pair.name, value: pair.value, of: text)
    }

    /// Creates a part.
    ///
    /// - Parameters:
    ///   - value: The text after the name and the equal sign.
    ///   - text: The entire argument, for error messages.
    init(name: String, value: String, of text: String) throws {
        self.name = name
        guard value.hasPrefix("@") else {
            guard value.hasPrefix("<") else {
                content = Self.text(value)
                return
            }
            let path = String(value.dropFirst())
            content = .text(
                String(decoding: try InputBytes.file(path, option: "--part \(name)=<\(path)"), as: UTF8.self))
            return
        }
        var rest = value.dropFirst()
        let path = try Self.word(&rest, of: text)
        var (type, fileName): (String?, String?)
        while !rest.isEmpty {
            let key = rest.dropFirst().prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(key.count + 1)
            guard rest.hasPrefix("="), ["type", "filename"].contains(key) else {
                throw Failure(
                    .usage, "--part \(text): only ;type=… and ;filename=… can follow a path. Quote it: @\"a;b.txt\"")
            }
            rest.removeFirst()
            let word = try Self.word(&rest, of: text)
            if key == "type" { type = word } else { fileName = word }
        }
        try Self.check(path, of: text)
        content = .file(
            path: path, type: type ?? MIMETypes.type(ofFileNamed: path),
            name: fileName ?? URL(filePath: path).lastPathComponent)
    }

    /// Parses a value with an optional content type. Everything else is part of the text.
    private static func text(_ value: String) -> Content {
        var text = value
        var type: String?
        if let match = value.firstMatch(of: /;type=([^;\s"\/]+\/[^;"]+)$/) {
            (text, type) = (String(value[..<match.range.lowerBound]), String(match.output.1))
        }
        var rest = text[...]
        if rest.hasPrefix("\""), let word = try? word(&rest, of: text), rest.isEmpty { text = word }
        return .text(text, type: type)
    }

    /// Removes and returns the first element, which is in quotes or ends at the next semicolon.
    private static func word(_ rest: inout Substring, of text: String) throws -> String {
        guard rest.hasPrefix("\"") else {
            let word = rest.prefix { $0 != ";" }
            rest = rest.dropFirst(word.count)
            return String(word)
        }
        rest.removeFirst()
        var word = ""
        while let next = rest.popFirst() {
            switch next {
            case "\\": word += rest.popFirst().map(String.init) ?? ""
            case "\"" where rest.isEmpty || rest.hasPrefix(";"): return word
            case "\"": throw Failure(.usage, "--part \(text): only a semicolon can follow a closing quote.")
            default: word.append(next)
            }
        }
        throw Failure(.usage, "--part \(text): the closing quote is missing.")
    }

    private static func check(_ path: String, of text: String) throws {
        var status = stat()
        guard path != "-" else {
            throw Failure(.usage, "--part \(text): the standard input cannot be a part, because its length is unknown.")
        }
        guard stat(path, &status) == 0 else {
            throw Failure(.usage, "--part \(text): \(path): \(Failure.systemReason).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "--part \(text): \(path) is not a regular file.")
        }
    }

    func append(to form: MultipartFormData) {
        switch content {
        case .text(let text, let type): form.append(Data(text.utf8), withName: name, mimeType: type)
        case .file(let path, let type, let fileName):
            form.append(URL(filePath: path), withName: name, fileName: fileName, mimeType: type)
        }
    }

    /// Returns the equivalent arguments for curl.
    func curlWords(_ redaction: Redaction) -> [String] {
        switch content {
        case .text(let text, nil):
            return ["--form-string", "\(name)=\(shown(text, type: "text/plain", redaction))"]
        case .text(let text, let type?):
            let text = shown(text, type: type, redaction)
            return [
                "-F", "\(name)=\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\";type=\(type)",
            ]
        case .file(let path, let type, let fileName):
            return [
                "-F", "\(name)=@\(Self.quoted(path));type=\(Self.quoted(type));filename=\(Self.quoted(fileName))",
            ]
        }
    }

    private func shown(_ text: String, type: String, _ redaction: Redaction) -> String {
        guard !Redaction.isSensitive(name) else { return redaction.credential(text) }
        return String(decoding: redaction.body(Data(text.utf8), type: type), as: UTF8.self)
    }

    private static func quoted(_ text: String) -> String {
        guard text.contains(where: { ";,\"\\".contains($0) }) else { return text }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}

extension Session {
    /// Creates the upload of a form.
    func upload(_ parts: [FormPart], for plan: RequestPlan) -> UploadRequest {
        let form = MultipartFormData()
        for part in parts { part.append(to: form) }
        return upload(multipartFormData: form, to: plan.url, method: plan.method, headers: plan.headers)
    }
}
