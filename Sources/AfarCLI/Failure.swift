import Afar
import Foundation

/// Why the tool ends before its work is done: an exit code, and one line for the person who called it.
struct Failure: Error, Equatable {
    var status: ExitReason
    /// What, where, and what to do.
    var message: String
    /// Lines to stand below the message, ended by a line break; mostly none.
    var excerpt = ""

    /// Makes a failure. Whatever a server or a file put into the message, it stays one line, and URLs in it show no secrets.
    init(_ status: ExitReason, _ message: String) {
        self.status = status
        self.message = Redaction.standard.line(message)
    }

    /// Makes the failure of a command line that cannot be parsed.
    ///
    /// - Parameters:
    ///   - message: What the parser says about it.
    ///   - isUsage: Whether the person can mend it by another command line.
    ///   - arguments: The command line; the first argument is the tool's own name.
    ///   - commands: The names of the tool's commands.
    init(parsing message: String, isUsage: Bool, arguments: [String], commands: [String]) {
        let command = arguments.dropFirst().first { !$0.hasPrefix("-") }
        if isUsage, let command, !commands.contains(command), command != "help" {
            let isAddress = command.contains { ".:/".contains($0) } || command == "localhost"
            let hint =
                isAddress
                ? "Perhaps you meant: afar get \(command)" : "The commands are: \(commands.joined(separator: ", "))."
            self.init(.usage, "\"\(command)\" is not a command. \(hint)")
        } else {
            let help = ["afar", command, "--help"].compactMap { $0 }.joined(separator: " ")
            self.init(isUsage ? .usage : .other, isUsage ? "\(Self.sentence(message)) See \(help)." : message)
        }
    }

    /// Why the last call of the system failed, fit to stand inside a sentence.
    static var systemReason: String { systemReason(of: errno) }

    static func systemReason(of code: Int32) -> String { String(cString: strerror(code)).lowercased() }

    /// Writes the message to the standard error stream and gives the status back.
    func reported() -> ExitReason {
        StandardError.write("afar: \(message)\n\(excerpt)")
        return status
    }

    private static func sentence(_ text: String) -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return text.last.map { ".!?".contains($0) } == true ? text : text + "."
    }
}

// MARK: - Exit codes

/// What the tool's exit code says; `afar --help` lists the same.
///
/// - 0: all went well
/// - 1: nothing matches the XPath expression of `afar xml`
/// - 2: bad usage, a bad URL, a request that must not be sent
/// - 3: the host was not found, did not accept the connection, TLS could not be agreed on, or `afar reach` found no way
/// - 4: the status is not 2xx, with `--check-status` (the body is printed all the same), `--sse` or in a download
/// - 5: a timeout passed
/// - 6: the response broke off, was malformed, too large or (with `--sse`) no stream of events, or a redirect leads nowhere
/// - 70: anything else, and a step of `afar demo` that did not come out as expected
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
        case .success: "all went well"
        case .noMatch: "nothing matches the XPath expression of afar xml"
        case .usage: "bad usage, a bad URL, a request that must not be sent"
        case .connection: "host not found, connection refused, no TLS, or no network"
        case .httpStatus: "the status is not 2xx, with --check-status, --sse or in a download"
        case .timeout: "timeout"
        case .response:
            "the response broke off, was malformed, too large or no stream of events, or a redirect leads nowhere"
        case .other: "anything else; a step of the demo that went wrong"
        }
    }

    /// Ends the process.
    func exit() -> Never { Foundation.exit(rawValue) }

    /// All codes and their meanings, one a line, for the help.
    static var table: String {
        allCases.map { status in
            let code = "\(status.rawValue)"
            return String(repeating: " ", count: 4 - code.count) + "\(code)  \(status.meaning)"
        }.joined(separator: "\n")
    }
}

// MARK: - Errors of the library

extension Failure {
    /// The failure of a request to `url`.
    init(_ error: AFError, url: String) {
        let place = Redaction.standard.url(url)
        if let cause = error.transportError {
            self = cause.underlying as? Failure ?? Failure(cause, url: cause.url ?? place)
            return
        }
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

    /// What a transport's failure means to the person who asked for `url`.
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
        case .cannotFindHost:
            self.init(
                .connection, "The host \(host) was not found: \(error.message). Check its spelling, and your network.")
        case .cannotConnect:
            self.init(.connection, "Could not connect to \(host): \(reason). Is a server running there?")
        case .proxyFailed:
            self.init(.connection, "\(host) cannot be reached: \(error.message). Choose another with --proxy, or none.")
        case .notConnected:
            self.init(.connection, "\(host) cannot be reached: \(reason). Check your network.")
        case .secureConnectionFailed:
            // What OpenSSL says of bytes that are no TLS.
            let advice =
                reason.contains("wrong version number") ? " If it speaks plain HTTP, write http:// before it." : ""
            self.init(.connection, "No TLS with \(host): \(reason).\(advice)")
        case .certificateUntrusted, .certificateHasBadDate, .certificateNotYetValid, .certificateHasUnknownRoot:
            self.init(
                .connection,
                "The certificate of \(host) is not to be trusted: \(reason). Nothing was sent to it. \(Self.trustHint(host))"
            )
        case .clientCertificateRejected, .clientCertificateRequired:
            self.init(
                .connection,
                "\(host) wants another client certificate than this, or one at all (--cert, --key): \(reason).")
        case .connectionLost where error.phase.isBeforeSending:
            self.init(.connection, "The connection to \(host) broke before anything was sent: \(reason).")
        case .timedOut where error.phase.isBeforeSending && error.phase != .queued:
            self.init(
                .timeout, "No connection to \(host) in time: \(error.message). Is it up, and is nothing in between?")
        case .timedOut:
            self.init(.timeout, "\(url) took too long: \(error.message). Allow more with --timeout.")
        case .connectionLost, .bodyIncomplete:
            self.init(.response, "The response from \(url) broke off: \(reason). Try again.")
        case .malformedResponse:
            self.init(.response, "What \(host) answered is not valid HTTP: \(error.message). Is it a web server?")
        case .headTooLarge:
            self.init(.response, "The response from \(url) has too large a head.")
        case .responseTooLarge:
            self.init(.response, "The response from \(url) is too large: \(error.message).")
        case .undecodableContent:
            self.init(
                .response,
                "The body from \(url) cannot be decoded: \(error.message). Try -H 'Accept-Encoding: identity'.")
        case .tooManyRedirects:
            self.init(
                .response,
                "\(error.message.capitalizedFirst). Allow more with --max-redirects, or see where it begins with "
                    + "--no-follow.")
        case .invalidRedirect, .insecureRedirect:
            let cause = error.underlying.map { ": \($0.localizedDescription)" } ?? "."
            self.init(
                .response, "\(error.message.capitalizedFirst)\(cause) To see the response itself, use --no-follow.")
        case .deliveryFailed:
            self.init(.other, "What \(url) sent cannot be kept: \(reason).")
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
