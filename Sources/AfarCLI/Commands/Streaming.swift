import Afar
import AfarCore
import ArgumentParser
import Foundation

/// Makes one request and prints its body while it comes.
struct StreamRunner {
    let plan: RequestPlan
    let options: any ResponseCommand
    let format: StreamFormat

    init(plan: RequestPlan, options: any ResponseCommand, format: StreamFormat) {
        var plan = plan
        if format.isEvents, plan.headers["Accept"] == nil { plan.headers.add(.accept("text/event-stream")) }
        self.plan = plan
        self.options = options
        self.format = format
    }

    func run() async throws {
        let inspector = Inspector(options.inspection, colors: options.colors)
        if options.inspection.curl {
            return try inspector.printCurlCommand(CurlCommand(plan, options, more: ["--no-buffer"]), for: plan)
        }
        let session = try options.makeSession(for: plan.url) { inspector.watch($0) }
        // A request does not outlive its session.
        defer { withExtendedLifetime(session) {} }
        let output = StreamOutput(
            style: options.colors.style(for: .standardOutput), charset: options.output.charset)
        let request = session.streamRequest(plan.url, headers: plan.headers, automaticallyCancelOnStreamError: true)
        if options.output.include {
            request.onHTTPResponse(on: output.queue) { [weak request] _, answer in
                answer(output.write(head: request?.responseHead) ? .allow : .cancel)
            }
        }
        StandardOutput.onClose {
            output.fail(StandardOutput.Closed())
            request.cancel()
        }
        let completion = await output.completion(of: request, as: format)
        inspector.showSummary(of: request)
        try output.check()
        if let error = completion.error {
            throw error.isResponseValidationError ? noEventStream(error) : Failure(error, url: plan.url)
        }
        if let head = request.responseHead { try options.output.check(head, url: plan.url) }
    }

    /// The response is no stream of events.
    private func noEventStream(_ error: AFError) -> Failure {
        let place = Redaction.standard.url(plan.url)
        if let status = error.responseCode {
            return Failure(.httpStatus, "\(place) answered \(StatusLine.text(of: status)), and no stream of events.")
        }
        let type = error.responseContentType.map { TerminalText.line($0) } ?? "no content type"
        return Failure(.response, "\(place) answered with \(type), not text/event-stream. --stream prints it as it is.")
    }
}

// MARK: - Options

/// Whether a response is printed while it comes.
struct StreamingOptions: ParsableArguments {
    @Flag(
        help: """
            Print the body as it comes, each piece at once. It is never held in memory; a slow reader holds the server back.
            """)
    var stream = false

    @Flag(help: "Print server-sent events as they come, until the server ends the stream.")
    var sse = false

    @Flag(help: "The same, each event as a JSON object in a line.")
    var sseJson = false

    /// What to print while it comes; nil to print the response when it is there.
    var format: StreamFormat? { sseJson ? .jsonEvents : sse ? .events : stream ? .bytes : nil }

    func validate() throws {
        guard !stream || !(sse || sseJson) else {
            throw ValidationError("--stream prints the body itself, --sse and --sse-json what is in it. Choose one.")
        }
    }
}

/// What a response that is printed while it comes consists of.
enum StreamFormat {
    case bytes
    /// Server-sent events, for people to read.
    case events
    /// Server-sent events, each a JSON object in a line.
    case jsonEvents

    /// Whether the body has to be a stream of server-sent events.
    var isEvents: Bool { self != .bytes }
}

// MARK: - Output

/// Writes a response to the standard output piece by piece, until that fails.
final class StreamOutput: Sendable {
    /// Where everything is written: a write may block.
    let queue = DispatchQueue(label: "afar.output")
    private let style: Style
    private let charset: TextEncoding?
    /// The CR at the end of what a terminal has got so far.
    private let pendingCarriageReturn = Locked("")
    private let failure = Locked<(any Error)?>(nil)

    /// - Parameter charset: The encoding that a body is read in whatever the response says; nil to go by the response.
    init(style: Style, charset: TextEncoding?) {
        self.style = style
        self.charset = charset
    }

    /// Starts the request, and returns when its last byte is written.
    func completion(of request: DataStreamRequest, as format: StreamFormat) async -> DataStreamRequest.Completion {
        await withCheckedContinuation { continuation in
            switch format {
            case .bytes:
                if let charset {
                    request.responseStream(using: CharsetTextParser(charset), on: queue) { [self] stream in
                        try writeText(stream, continuation)
                    }
                } else if style.isPretty {
                    request.responseStreamString(on: queue) { [self] stream in
                        try writeText(stream, continuation)
                    }
                } else {
                    request.responseStream(on: queue) { [self] stream in
                        if let bytes = stream.value { try write(bytes) }
                        if let completion = stream.completion { continuation.resume(returning: completion) }
                    }
                }
            case .events, .jsonEvents:
                let printer = EventPrinter(style: style, isJSON: format == .jsonEvents)
                request.responseStreamServerSentEvents(on: queue) { [self] stream in
                    if let event = stream.value { try write(Data(printer.text(event).utf8)) }
                    if let error = stream.error {
                        fail(Failure(.response, (error.underlyingError ?? error).localizedDescription))
                    }
                    if let completion = stream.completion { continuation.resume(returning: completion) }
                }
            }
        }
    }

    /// Writes a head. Returns whether that succeeded.
    func write(head: ResponseHead?) -> Bool {
        guard let head else { return true }
        return (try? write(Data(ResponsePrinter.lines(of: head, style).utf8))) != nil
    }

    /// Keeps the first thing that went wrong.
    func fail(_ error: any Error) {
        failure.withLock { $0 = $0 ?? error }
    }

    /// Throws what went wrong with writing, if something did.
    func check() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Writes what a stream of text brings, and resumes at its end.
    private func writeText<Failure>(
        _ stream: DataStreamRequest.Stream<String, Failure>,
        _ continuation: CheckedContinuation<DataStreamRequest.Completion, Never>
    ) throws {
        if let text = stream.value { try write(text) }
        if let completion = stream.completion {
            try? flush()
            continuation.resume(returning: completion)
        }
    }

    /// A terminal gets nothing that steers it. A CR at the end waits: an LF that comes next belongs to it.
    private func write(_ text: String) throws {
        guard style.isPretty else { return try write(Data(text.utf8)) }
        let whole = pendingCarriageReturn.withLock { held in
            var scalars = (held + text).unicodeScalars
            held = scalars.last == "\r" ? "\r" : ""
            if !held.isEmpty { scalars.removeLast() }
            return String(scalars)
        }
        try write(Data(TerminalText.safe(whole).utf8))
    }

    private func flush() throws {
        let rest = pendingCarriageReturn.withLock { $0 }
        if !rest.isEmpty { try write(Data(TerminalText.safe(rest).utf8)) }
    }

    private func write(_ bytes: Data) throws {
        do {
            try StandardOutput.write(bytes)
        } catch {
            fail(error)
            throw error
        }
    }
}

/// Text of a streamed body in an encoding that a person has named.
struct CharsetTextParser: DataStreamParser {
    private var decoder: TextDecoder

    init(_ encoding: TextEncoding) { decoder = TextDecoder(encoding) }

    mutating func parse(_ chunk: Data) -> [Result<String, AFError>] { [.success(decoder.decode(chunk))] }

    mutating func finish() -> [Result<String, AFError>] { [.success(decoder.finish())] }
}

/// Turns server-sent events into what is written to the standard output.
struct EventPrinter {
    let style: Style
    let isJSON: Bool

    /// An event as lines: its type and its ID, then its data, indented; or as a JSON object in one line.
    func text(_ event: ServerSentEvent) -> String {
        if isJSON {
            let members = [("event", event.event), ("id", event.id), ("data", event.data)]
            return safe("{" + members.map { "\"\($0)\":\(JSONText.string($1))" }.joined(separator: ",") + "}\n")
        }
        let id = event.id.isEmpty ? "" : style.paint(" \(safe(event.id))", .dim)
        let lines = event.data.split(separator: "\n", omittingEmptySubsequences: false)
        return style.paint(safe(event.event), .bold) + id + "\n" + lines.map { "  \(safe($0))\n" }.joined()
    }

    /// A terminal gets nothing that steers it.
    private func safe(_ text: some StringProtocol) -> String {
        style.isPretty ? TerminalText.safe(String(text)) : String(text)
    }
}
