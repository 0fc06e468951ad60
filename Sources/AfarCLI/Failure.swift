import Afar
import ArgumentParser
import Foundation

/// The reason that the tool ends early: an exit code and a one-line message.
struct Failure: Error, Equatable, CustomStringConvertible {
    var status: ExitReason
    /// What failed, where, and what to do about it. If it's empty, nothing is printed.
    var message: String
    /// Additional lines below the message, each with a line break; usually empty.
    var excerpt = ""
    /// The kind of a request's error, for reports. It's nil for other errors, for which reports use the status.
    var requestErrorKind: String?

    /// Creates a failure. Redacts the URLs in the message, and escapes control characters so that the message remains one line.
    init(_ status: ExitReason, _ message: String) {
        self.status = status
        self.message = Redaction.standard.line(message)
    }

    /// Creates the failure that the parser describes; nil if the text isn't about an error.
    ///
    /// - Parameters:
    ///   - parserText: The text that the parser prints: "Error: " and the message. If the command line is invalid, lines that begin with
    ///     "Help: " and "Usage: " follow.
    ///   - arguments: The command line, beginning with the tool's name.
    ///   - commands: The names of the tool's commands.
    init?(parserText: String, arguments: [String], commands: [String]) {
        let prefix = "Error: "
        guard parserText.hasPrefix(prefix) else { return nil }
        var message = parserText.dropFirst(prefix.count)
        let usage = message.range(of: "\nUsage: ", options: .backwards)
        if let usage { message = message[..<usage.lowerBound] }
        if let help = message.range(of: "\nHelp:  ", options: .backwards) { message = message[..<help.lowerBound] }
        if message.hasPrefix("Missing expected argument '<url>"),
            let text = Self.parserText(forUnknownOptionIn: Array(arguments.dropFirst()))
        {
            self.init(parserText: text, arguments: arguments, commands: commands)
            return
        }
        self.init(parsing: String(message), isUsage: usage != nil, arguments, commands)
    }

    /// Returns the parser's text about an unknown option, which the parser checks only if the URL isn't missing.
    private static func parserText(forUnknownOptionIn arguments: [String]) -> String? {
        guard arguments.contains(where: { $0.hasPrefix("-") }) else { return nil }
        do {
            _ = try AfarTool.parseAsRoot(arguments + ["localhost"])
            return nil
        } catch {
            let text = AfarTool.fullMessage(for: error)
            return text.hasPrefix("Error: Unknown option") ? text : nil
        }
    }

    /// - Parameter isUsage: Whether a different command line would avoid the failure.
    private init(parsing message: String, isUsage: Bool, _ arguments: [String], _ commands: [String]) {
        // Without a command, the request command is used.
        let word = arguments.dropFirst().first { !$0.hasPrefix("-") }
        let command = word.map { commands.contains($0) || $0 == "help" ? $0 : "request" }
        let help = ["afar", command == "help" ? nil : command, "--help"].compactMap { $0 }.joined(separator: " ")
        if isUsage, let hint = ForeignOption.hint(for: message, in: command ?? "request", arguments) {
            self.init(.usage, hint)
            return
        }
        // The parser's prefix is redundant, because the message already names the option.
        if isUsage,
            let text = message.firstMatch(
                of: /(?s)^The value '.*' is invalid for '-[^']*': (--[a-z][a-z-]* [^:]*requires .*|--[a-z][a-z-]* @.*)$/
            )
        {
            self.init(.usage, String(text.output.1))
            return
        }
        self.init(isUsage ? .usage : .other, isUsage ? "\(Self.sentence(message)) See \(help)." : message)
    }

    /// Creates the failure of a URL that could be a misspelled command.
    init(misspelling word: String, of command: String) {
        self.init(
            .usage,
            "\"\(word)\" isn't a command. Did you mean \"afar \(command)\"? For a host with this name, write http://\(word)"
        )
    }

    /// The reason that the last system call failed, for use within a sentence.
    static var systemReason: String { systemReason(of: errno) }

    static func systemReason(of code: Int32) -> String { String(cString: strerror(code)).lowercased() }

    /// Writes the message to standard error, unless `--silent` hides it, and returns the exit code.
    func reported() -> ExitReason {
        guard !message.isEmpty else { return status }
        if status == .usage {
            StandardError.write("afar: \(message)\n\(excerpt)")
        } else {
            Messages.error(message + (excerpt.isEmpty ? "" : "\n\(excerpt.dropLast())"))
        }
        return status
    }

    /// The message, which the parser includes in its own message.
    var description: String { message }

    private static func sentence(_ text: String) -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return text.last.map { ".!?".contains($0) } == true ? text : text + "."
    }
}

/// The tool's exit codes, which `afar --help` also lists.
///
/// - 0: success
/// - 1: nothing matches the XPath expression of `afar xml`, or `afar diff` found differences
/// - 2: invalid usage, an invalid URL, or a request that cannot be sent
/// - 3: host not found, connection refused, TLS handshake failed, or no route according to `afar reach`
/// - 4: the status isn't 2xx (`afar download`, `afar ws`, `--sse` or `--check-status`), or is 400 or higher (`--fail` or
///   `--fail-with-body`). Only `--fail` omits the body.
/// - 5: timeout
/// - 6: incomplete, malformed or oversized response, no event stream with `--sse`, or an invalid redirect
/// - 70: other errors, and a failed step of `afar demo`
enum ExitReason: Int32, CaseIterable {
    case success = 0
    case noMatch = 1
    case usage = 2
    case connection = 3
    case httpStatus = 4
    case timeout = 5
    case response = 6
    case other = 70

    var meaning: String {
        switch self {
        case .success: "success"
        case .noMatch: "nothing matches the XPath expression of afar xml, or afar diff found differences"
        case .usage: "invalid usage, an invalid URL, or a request that cannot be sent"
        case .connection: "host not found, connection refused, TLS failure, or no network"
        case .httpStatus: "status refused by afar download or ws, --sse, --check-status or --fail"
        case .timeout: "timeout"
        case .response:
            "incomplete, malformed or oversized response, no event stream, or an invalid redirect"
        case .other: "other errors, or a failed step of afar demo"
        }
    }

    func exit() -> Never { Foundation.exit(rawValue) }

    /// All codes and their meanings, one per line, for the help.
    static var table: String {
        allCases.map { status in
            let code = "\(status.rawValue)"
            return String(repeating: " ", count: 4 - code.count) + "\(code)  \(status.meaning)"
        }.joined(separator: "\n")
    }
}

extension Failure {
    /// Creates the failure of a request to `url`.
    init(_ error: AFError, url: String) {
        let place = Redaction.standard.url(url)
        if case .requestRetryFailed(let failure as Failure, _) = error {
            self = failure
            requestErrorKind = error.kind
            return
        }
        if let cause = error.transportError {
            if let failure = cause.underlying as? Failure {
                self = failure
            } else {
                self.init(cause, url: cause.url ?? place)
                requestErrorKind = error.kind
            }
            return
        }
        defer { requestErrorKind = error.kind }
        switch error {
        case .invalidURL, .urlRequestValidationFailed, .createURLRequestFailed, .parameterEncodingFailed,
            .parameterEncoderFailed:
            self.init(.usage, error.localizedDescription)
        case .serverTrustEvaluationFailed:
            let text = error.localizedDescription
            self.init(
                .connection,
                "\(text)\(text.hasSuffix(".") ? "" : ".") Nothing was sent to it. \(Self.trustHint(URLText.host(of: place)))"
            )
        default:
            self.init(.other, "\(error.localizedDescription) The URL is \(place).")
        }
    }

    private static func trustHint(_ host: String) -> String { "\"afar trust \(host)\" shows the certificates." }

    /// Returns the reason that a proxy failed, with the system's reason, and where the proxy is set if the environment sets it.
    private static func proxyReason(of error: TransportError) -> String {
        var reason = error.message
        if let cause = error.systemError.map({ systemReason(of: $0) }), !reason.lowercased().contains(cause) {
            reason += ": \(cause)"
        }
        let words = error.message.split { " ()".contains($0) }
        let environment = NetworkSettings.environment.proxies
        let isFromEnvironment = [environment.http, environment.https].contains { proxy in
            proxy.map { words.contains("\($0)"[...]) } ?? false
        }
        return isFromEnvironment
            ? "\(reason). An environment variable, such as http_proxy, sets this proxy" : reason
    }

    /// Creates the failure of a transport that sent a request to `url`.
    init(_ error: TransportError, url: String) {
        let host = URLText.host(of: url)
        let reason = error.systemError.map { Failure.systemReason(of: $0) } ?? error.message
        switch error.code {
        case .invalidURL, .unsupportedURL:
            self.init(.usage, "This URL cannot be requested: \(url): \(error.message).")
        case .invalidUse where error.phase == .queued:
            self.init(.usage, "\(error.message.capitalizedFirst).")
        case .unsupportedByTransport:
            self.init(.usage, "\(error.message.capitalizedFirst). Try another --transport.")
        case .invalidCredential:
            self.init(.usage, "The user name or password for \(host) cannot be sent: \(error.message).")
        case .cannotFindHost where error.underlying != nil:
            let cause = error.underlying.map { TerminalText.line($0.localizedDescription) } ?? ""
            self.init(.connection, Self.sentence("The host \(host) was not found: \(error.message): \(cause)"))
        case .cannotFindHost:
            self.init(
                .connection, "The host \(host) was not found: \(error.message). Check its spelling and your network.")
        case .cannotConnect:
            self.init(.connection, "Could not connect to \(host): \(reason). Is a server running there?")
        case .proxyFailed:
            self.init(
                .connection,
                "\(host) cannot be reached: \(Self.proxyReason(of: error)). Use another --proxy, or --proxy none.")
        case .notConnected:
            self.init(.connection, "\(host) cannot be reached: \(reason). Check your network.")
        case .secureConnectionFailed:
            // OpenSSL's message for bytes that aren't TLS.
            let advice =
                reason.contains("wrong version number") ? " For plain HTTP, begin the URL with http://." : ""
            self.init(.connection, "The TLS handshake with \(host) failed: \(reason).\(advice)")
        case .certificateUntrusted, .certificateHasBadDate, .certificateNotYetValid, .certificateHasUnknownRoot:
            self.init(
                .connection,
                "The certificate of \(host) is not trusted: \(reason). Nothing was sent to it. \(Self.trustHint(host))"
            )
        case .clientCertificateRejected, .clientCertificateRequired:
            self.init(
                .connection,
                "\(host) requires a client certificate or rejected this one (--cert, --key): \(reason).")
        case .connectionLost where error.phase.isBeforeSending:
            self.init(.connection, "The connection to \(host) was lost before anything was sent: \(reason).")
        case .timedOut where error.phase == .tlsHandshake:
            self.init(
                .timeout,
                "\(host) accepted the connection, but didn't answer the TLS handshake in time: \(error.message). For plain HTTP, "
                    + "begin the URL with http://.")
        case .timedOut where error.phase.isBeforeSending && error.phase != .queued:
            self.init(
                .timeout,
                "No connection to \(host) in time: \(error.message). Is it running, or does a firewall block it?")
        case .timedOut:
            self.init(.timeout, "\(url) took too long: \(error.message). Allow more time with --timeout.")
        case .connectionLost, .bodyIncomplete:
            self.init(.response, "The response from \(url) was cut off: \(reason). Try again.")
        case .malformedResponse:
            self.init(.response, "The response from \(host) is not valid HTTP: \(error.message). Is it a web server?")
        case .headTooLarge:
            self.init(.response, "The headers of the response from \(url) are too large.")
        case .responseTooLarge:
            self.init(.response, "The response from \(url) is too large: \(error.message).")
        case .undecodableContent:
            self.init(
                .response,
                "The body from \(url) cannot be decoded: \(error.message). Try -H 'Accept-Encoding: identity'.")
        case .tooManyRedirects:
            self.init(
                .response,
                "\(error.message.capitalizedFirst). Allow more with --max-redirects, or show the first with "
                    + "--no-follow.")
        case .invalidRedirect, .insecureRedirect:
            let cause = error.underlying.map { ": \($0.localizedDescription)" } ?? "."
            self.init(
                .response, "\(error.message.capitalizedFirst)\(cause) To see the response itself, use --no-follow.")
        case .deliveryFailed:
            self.init(.other, "The response from \(url) cannot be saved: \(reason).")
        default:
            self.init(.other, "The request to \(url) failed while \(error.phase.rawValue): \(reason) (\(error.code)).")
        }
    }
}

extension TransportError.Phase {
    fileprivate var isBeforeSending: Bool {
        switch self {
        case .queued, .resolving, .connecting, .tlsHandshake: true
        case .sending, .awaitingResponse, .receiving: false
        }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
