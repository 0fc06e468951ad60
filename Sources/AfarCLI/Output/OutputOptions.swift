import Afar
import ArgumentParser

/// The parts of an exchange that are printed on standard output.
struct OutputParts: OptionSet, Hashable {
    let rawValue: Int

    static let requestHead = OutputParts(rawValue: 1)
    static let requestBody = OutputParts(rawValue: 2)
    static let responseHead = OutputParts(rawValue: 4)
    static let responseBody = OutputParts(rawValue: 8)
    /// The elapsed time and the size.
    static let metadata = OutputParts(rawValue: 16)

    static let request: OutputParts = [.requestHead, .requestBody]

    init(rawValue: Int) { self.rawValue = rawValue }

    /// The letters of `--print`.
    private static let letters: [Character: OutputParts] = [
        "H": .requestHead, "B": .requestBody, "h": .responseHead, "b": .responseBody, "m": .metadata,
    ]

    /// Parses the letters of `--print`.
    static func parse(_ text: String) throws -> OutputParts {
        let parts = text.map { letters[$0] }
        guard !parts.isEmpty, !parts.contains(nil) else {
            throw ValidationError(
                "--print expects letters: H and B for the request's head and body, h and b for the response's, and m for "
                    + "the time and size. Example: --print Hh")
        }
        return OutputParts(parts.compactMap(\.self))
    }
}

/// The options for printing a response.
struct OutputOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "Print the status line and the headers before the body, as on a terminal.")
    var include = false

    @Option(
        name: [.customShort("p", allowingJoined: true), .long],
        help: ArgumentHelp(
            """
            Print these parts: H and B for the request's head and body, h and b for the response's, m for the time and size. \
            (default: hb on a terminal, otherwise b)
            """, valueName: "letters"),
        transform: OutputParts.parse)
    var print: OutputParts?

    @Flag(help: "Print only the status line and the headers: --print h.")
    var headers = false

    @Flag(help: "Print only the body: --print b.")
    var body = false

    @Flag(help: "Print only the time and the size: --print m.")
    var meta = false

    @Flag(help: "Print the request instead of sending it.")
    var offline = false

    @Flag(
        name: .customLong("no-pager"),
        help: "Don't show long output on a terminal with the program in PAGER. (default: less -FRX)")
    var noPager = false

    @Flag(exclusivity: .chooseLast)
    var statusCheck: StatusCheck?

    @Option(
        name: [.customShort("w", allowingJoined: true), .long], parsing: .unconditional,
        help: ArgumentHelp(
            """
            Print this text after the response, with variables of curl such as %{http_code} and %{time_total}. @file reads \
            the text from a file.
            """, valueName: "format"),
        transform: WriteOut.init(argument:))
    var writeOut: WriteOut?

    @Option(
        help: ArgumentHelp(
            "Decode the body with this charset instead of the response's. A pipe receives UTF-8.",
            valueName: "label"),
        transform: Charset.encoding(labelled:))
    var charset: TextEncoding?

    /// The parts that the options name; nil if they name none.
    var explicitParts: OutputParts? {
        print ?? (headers ? .responseHead : body ? .responseBody : meta ? .metadata : nil)
    }

    /// Throws a ``Failure`` if an option such as `--fail` rejects the status.
    func check(_ head: ResponseHead, url: String) throws {
        guard let statusCheck, statusCheck.rejects(head.status) else { return }
        let reason = statusCheck == .checkStatus ? "isn't 2xx" : "is an error"
        throw Failure(
            .httpStatus,
            "\(Redaction.standard.url(url)) returned \(StatusLine.text(of: head.status)), which \(reason).")
    }

    /// Returns whether the body of a response is neither printed nor saved because of its status.
    func omitsBody(status: Int) -> Bool {
        guard let statusCheck, statusCheck.omitsBody else { return false }
        return statusCheck.rejects(status)
    }
}

/// The options that make a command fail because of the response's status.
enum StatusCheck: EnumerableFlag {
    case checkStatus
    case fail
    /// The short name of `--fail`. HTTPie has another option with this name, for forms.
    case shortFail
    case failWithBody

    static func name(for value: StatusCheck) -> NameSpecification {
        switch value {
        case .checkStatus, .fail, .failWithBody: .long
        case .shortFail: .customShort("f")
        }
    }

    static func help(for value: StatusCheck) -> ArgumentHelp? {
        switch value {
        case .checkStatus: "Exit with code 4 if the status isn't 2xx. The body is still printed."
        case .fail: "Exit with code 4, without printing or saving the body, if the status is 400 or higher."
        case .shortFail: "Like --fail."
        case .failWithBody: "Like --fail, but print or save the body."
        }
    }

    /// Returns whether the command fails because of the status.
    func rejects(_ status: Int) -> Bool { self == .checkStatus ? !(200..<300).contains(status) : status >= 400 }

    var omitsBody: Bool { self == .fail || self == .shortFail }
}

extension ResponseCommand {
    /// The pager for output on a terminal. It doesn't run while `--verbose` writes to the same terminal.
    var pager: Pager { Pager(isEnabled: !output.noPager && !inspection.verbose) }

    /// Returns the parts to print.
    ///
    /// - Parameter showsHead: Whether a terminal shows the response's head by default. Pass false if `--verbose` already shows the head on
    ///   the terminal.
    func parts(of method: HTTPMethod, showsHead: Bool) -> OutputParts {
        var parts = output.explicitParts ?? .responseBody
        if output.include { parts.insert(.responseHead) }
        guard output.explicitParts == nil else { return parts }
        let isLogged = inspection.verbose && OutputFacts.standardError.isTerminal
        let isShown = showsHead && !isLogged && OutputFacts.standardOutput.isTerminal
        if method == .head || isShown { parts.insert(.responseHead) }
        return parts
    }
}

/// The values of `--charset`.
enum Charset {
    /// Returns the encoding with a label.
    static func encoding(labelled label: String) throws -> TextEncoding {
        if let encoding = TextEncoding(label: label) { return encoding }
        throw ValidationError(
            "Unknown charset. Supported are utf-8, utf-16, iso-8859-1, windows-1251, koi8-r, shift_jis, euc-jp, gb18030, "
                + "big5, euc-kr and the others of the WHATWG Encoding Standard.")
    }
}
