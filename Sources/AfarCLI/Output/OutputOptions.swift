import Afar
import ArgumentParser

/// What is printed of a response.
struct OutputOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print the status line and the headers before the body.")
    var include = false

    @Flag(help: "Exit with code 4 when the status is not 2xx; the body is printed all the same.")
    var checkStatus = false

    @Option(
        help: ArgumentHelp(
            """
            Read the body as text in this charset, whatever the response says: a terminal shows it so, a pipe gets it in \
            UTF-8.
            """,
            valueName: "label"),
        transform: Charset.encoding(labelled:))
    var charset: TextEncoding?

    /// Throws what `--check-status` promises.
    func check(_ head: ResponseHead, url: String) throws {
        guard checkStatus, !(200..<300).contains(head.status) else { return }
        throw Failure(
            .httpStatus,
            "\(Redaction.standard.url(url)) answered \(StatusLine.text(of: head.status)), which is not 2xx.")
    }
}
