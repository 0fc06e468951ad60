import Afar
import AfarCore
import ArgumentParser
import Foundation

/// Sends one request and prints the response body as it arrives.
struct StreamRunner {
    let plan: RequestPlan
    let options: any ResponseCommand
    let format: StreamFormat

    init(plan: RequestPlan, options: any ResponseCommand, format: StreamFormat) {
        var plan = plan
        if format.isEvents, plan.canAdd("Accept") { plan.headers.add(.accept("text/event-stream")) }
        self.plan = plan
        self.options = options
        self.format = format
    }

    func run() async throws {
        let inspector = Inspector(options)
        let session = try options.makeSession(for: plan) { inspector.watch($0) }
        // Releasing the session would end the request.
        defer { withExtendedLifetime(session) {} }
        let parts = options.parts(of: plan.method, showsHead: true)
        let style = options.colors.style(for: .standardOutput)
        let output = StreamOutput(style: style, charset: options.output.charset)
        let request = session.streamRequest(
            plan.url, method: plan.method, headers: plan.headers, automaticallyCancelOnStreamError: true
        ) { [body = plan.body] in $0.httpBody = body?.bytes }
        let printsMore = !parts.subtracting([.responseBody, .metadata]).isEmpty
        if printsMore || options.output.statusCheck?.omitsBody == true, !options.output.offline {
            request.onHTTPResponse(on: output.queue) { [weak request, settings = options.output] response, answer in
                var text = inspector.requestText(parts, style)
                if let head = request?.responseHead, parts.contains(.responseHead) {
                    text += Data(ResponsePrinter.lines(of: head, style).utf8)
                }
                let isWritten = text.isEmpty || output.write(text: text)
                answer(isWritten && !settings.omitsBody(status: response.statusCode) ? .allow : .cancel)
            }
        }
        StandardOutput.onClose {
            output.fail(StandardOutput.Closed())
            request.cancel()
        }
        let completion = await output.completion(of: request, as: format)
        if try inspector.hasPrintedRequest() { return }
        try await options.output.writingOut(request) {
            try await finish(request, completion, output, inspector, parts, style)
        }
    }

    /// Prints what follows the body, or throws the request's failure.
    private func finish(
        _ request: DataStreamRequest, _ completion: DataStreamRequest.Completion, _ output: StreamOutput,
        _ inspector: Inspector, _ parts: OutputParts, _ style: Style
    ) async throws {
        if completion.error == nil, parts.contains(.metadata) {
            _ = output.write(text: Data("\n\(ExchangeFacts.text(of: request, style))".utf8))
        }
        await inspector.showSummary(of: request)
        try output.check()
        if let head = request.responseHead { UnsentCredentials.report(plan.security, head) }
        if let head = request.responseHead, options.output.omitsBody(status: head.status) {
            try options.output.check(head, url: plan.url)
        }
        if let error = completion.error {
            throw error.isResponseValidationError ? noEventStream(error) : Failure(error, url: plan.url)
        }
        if let head = request.responseHead { try options.output.check(head, url: plan.url) }
    }

    /// Returns the failure for a response that isn't an event stream.
    private func noEventStream(_ error: AFError) -> Failure {
        let place = Redaction.standard.url(plan.url)
        if let status = error.responseCode {
            return Failure(.httpStatus, "\(place) returned \(StatusLine.text(of: status)) instead of an event stream.")
        }
        let type = error.responseContentType.map { TerminalText.line($0) } ?? "no content type"
        return Failure(.response, "\(place) returned \(type), not text/event-stream. To print it anyway, use --stream.")
    }
}

/// The options for printing a response as it arrives.
struct StreamingOptions: ParsableArguments {
    @Flag(
        help: """
            Print the body as it arrives, without collecting it in memory. A slow reader slows the server down.
            """)
    var stream = false

    @Flag(help: "Print server-sent events as they arrive, until the server ends the stream.")
    var sse = false

    @Flag(help: "Print server-sent events as JSON objects, one per line.")
    var sseJson = false

    /// The format of a streamed response; nil to print the response once it's complete.
    var format: StreamFormat? { sseJson ? .jsonEvents : sse ? .events : stream ? .bytes : nil }
}

/// The format of a streamed response.
enum StreamFormat {
    case bytes
    /// Server-sent events, formatted for reading.
    case events
    /// Server-sent events, one JSON object per line.
    case jsonEvents

    /// Whether the body must be a stream of server-sent events.
    var isEvents: Bool { self != .bytes }
}

/// Writes a response to standard output in pieces, until a write fails.
final class StreamOutput: Sendable {
    /// The queue for all writes, which can block.
    let queue = DispatchQueue(label: "afar.output")
    private let style: Style
    private let charset: TextEncoding?
    /// The CR that ended the last piece of text and hasn't been written to the terminal yet.
    private let pendingCarriageReturn = Locked("")
    private let failure = Locked<(any Error)?>(nil)

    /// - Parameter charset: The encoding that overrides the response's; nil to use the response's.
    init(style: Style, charset: TextEncoding?) {
        self.style = style
        self.charset = charset
    }

    /// Starts the request and returns once its last byte is written.
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

    /// Writes the text before or after the body, and returns whether that succeeded.
    func write(text: Data) -> Bool { (try? write(text)) != nil }

    /// Writes bytes that aren't a response. On a terminal, they are decoded, and control characters are made visible.
    func write(received bytes: Data, decodingWith decoder: inout TextDecoder) throws {
        if style.isPretty { try write(decoder.decode(bytes)) } else { try write(bytes) }
    }

    /// Stores the first failure.
    func fail(_ error: any Error) {
        failure.withLock { $0 = $0 ?? error }
    }

    /// Throws the stored failure, if any.
    func check() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Writes the text of a stream, and resumes the continuation at its end.
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

    /// Writes text. On a terminal, control characters are made visible. A final CR is held back, because the next piece can
    /// begin with the matching LF.
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

/// Decodes a streamed body in the encoding of `--charset`.
struct CharsetTextParser: DataStreamParser {
    private var decoder: TextDecoder

    init(_ encoding: TextEncoding) { decoder = TextDecoder(encoding) }

    mutating func parse(_ chunk: Data) -> [Result<String, AFError>] { [.success(decoder.decode(chunk))] }

    mutating func finish() -> [Result<String, AFError>] { [.success(decoder.finish())] }
}

/// Formats server-sent events for standard output.
struct EventPrinter {
    let style: Style
    let isJSON: Bool

    /// Returns an event as one line of JSON, or as text: a line with the type and the ID, then the indented data.
    func text(_ event: ServerSentEvent) -> String {
        if isJSON {
            let members = [("event", event.event), ("id", event.id), ("data", event.data)]
            return "{" + members.map { "\"\($0)\":\(JSONText.string($1))" }.joined(separator: ",") + "}\n"
        }
        let id = event.id.isEmpty ? "" : style.paint(" \(safe(event.id))", .dim)
        let lines = event.data.split(separator: "\n", omittingEmptySubsequences: false)
        return style.paint(safe(event.event), .bold) + id + "\n" + lines.map { "  \(safe($0))\n" }.joined()
    }

    /// Makes control characters visible on a terminal.
    private func safe(_ text: some StringProtocol) -> String {
        style.isPretty ? TerminalText.safe(String(text)) : String(text)
    }
}
