import Afar
import HTTPTypes

/// Writes down exchanges line by line, in the manner of `curl -v`: `>` goes out, `<` comes in, `*` explains.
struct VerboseLog: Sendable {
    let style: Style
    let redaction: Redaction
    let write: @Sendable (String) -> Void

    /// The request, as far as it is known before the transport has it.
    func sending(_ exchange: Exchange) {
        let request = exchange.request
        var fields = request.headerFields
        for field in exchange.options.defaultFields.fields where !request.headerFields.contains(field.name) {
            fields.append(field)
        }
        var lines = [style.paint("\(request.method.rawValue) \(redaction.url(request.path ?? "/"))", .bold)]
        lines.append(line("Host", request.authority ?? ""))
        lines += fields.map { line($0.name.rawName, $0.value) }
        if !exchange.body.isNone, !fields.contains(.contentLength) {
            let length = exchange.body.length
            lines.append(length.map { line("Content-Length", "\($0)") } ?? line("Transfer-Encoding", "chunked"))
        }
        print("*", [redaction.url(exchange.url)])
        print(">", lines + [""])
    }

    /// A head, final or not.
    func received(_ head: ResponseHead) {
        let status = style.paint(StatusLine.text(of: head.status), StatusLine.paint(for: head.status))
        let fields = head.fields.map { line($0.name.rawName, $0.value) }
        print("<", ["\(TerminalText.line(head.httpVersion)) \(status)"] + fields + [""])
    }

    /// What was measured, when all is over.
    func ended(_ report: TransportReport, isSecure: Bool) {
        for field in report.trailers { print("<", ["trailer \(line(field.name.rawName, field.value))"]) }
        print("*", report.transactions.flatMap { ConnectionSummary($0, isSecure: isSecure).lines })
    }

    /// The connection was closed before anything was sent, so that somebody can decide.
    func certificatesArrived() {
        print("*", ["The server's certificates are here and are looked at; nothing has been sent yet."])
    }

    func failed(_ error: TransportError) {
        print("*", [style.paint(TerminalText.line(error.description), .red)])
    }

    private func line(_ name: String, _ value: String) -> String {
        "\(style.paint(name, .cyan)): \(TerminalText.line(redaction.value(value, of: name)))"
    }

    private func print(_ mark: String, _ lines: [String]) {
        write(
            lines.map { $0.isEmpty ? style.paint(mark, .dim) : "\(style.paint(mark, .dim)) \($0)" }
                .map { $0 + "\n" }.joined())
    }
}
