import Afar
import AfarCore
import Foundation

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
