import Afar
import AfarCore
import Foundation

/// Prints requests instead of sending them.
struct OfflineTransport: Transport {
    let capabilities: TransportCapabilities
    let output: OfflineOutput

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        await output.print(exchange)
        return TransportResponse(head: ResponseHead(status: 204, url: exchange.url), body: .data(Data()))
    }
}

/// The output of `--offline`.
final class OfflineOutput: Sendable {
    /// The longest body that is formatted for a terminal, in bytes.
    private static let longestReadableBody: Int64 = 1 << 20

    private struct State {
        var hasPrinted = false
        var hidesSecrets = false
        var failure: (any Error)?
    }

    private let printer: RequestPrinter
    private let state = Locked(State())

    init(parts: OutputParts, style: Style, redaction: Redaction) {
        printer = RequestPrinter(parts: parts.intersection(.request), style: style, redaction: redaction)
    }

    /// Prints the request of an exchange. The first error is stored.
    func print(_ exchange: Exchange) async {
        var head = SentHead(expectedFor: exchange)
        head.version = "HTTP/1.1"
        let request = SentRequest(head: head, body: exchange.body)
        do {
            if printer.parts.contains(.requestHead) { try StandardOutput.write(printer.head(of: request)) }
            if printer.parts.contains(.requestBody) { try await printBody(of: exchange, request) }
            if printer.hidesSecrets(of: request) { state.withLock { $0.hidesSecrets = true } }
        } catch {
            state.withLock { $0.failure = $0.failure ?? error }
        }
        state.withLock { $0.hasPrinted = true }
    }

    /// Returns whether a request was printed.
    ///
    /// - Throws: The first error that occurred.
    func check(with inspector: Inspector) throws -> Bool {
        let state = state.withLock { $0 }
        if let failure = state.failure { throw failure }
        if state.hidesSecrets { inspector.noteHiddenSecrets() }
        return state.hasPrinted
    }

    private func printBody(of exchange: Exchange, _ request: SentRequest) async throws {
        if printer.style.isPretty, let length = exchange.body.length, length <= Self.longestReadableBody {
            let bytes = try await exchange.collectBody { _ in }
            return try StandardOutput.write(bytes.isEmpty ? bytes : printer.body(bytes, of: request))
        }
        guard !printer.style.isPretty else {
            let summary = exchange.body.length.map { BodyText.summary($0, type: request.contentType) }
            return try StandardOutput.write("(\(summary ?? "a body of unknown length"))\n")
        }
        switch exchange.body {
        case .none: break
        case .data(let data): try StandardOutput.write(data)
        case .file(let url):
            let file = try FileHandle(forReadingFrom: url)
            while let bytes = try file.read(upToCount: 1 << 16), !bytes.isEmpty { try StandardOutput.write(bytes) }
        case .stream(let stream):
            let read = stream.reader()
            while let bytes = try await read() { try StandardOutput.write(bytes) }
        }
    }
}
