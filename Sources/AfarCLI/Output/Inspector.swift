import Afar
import ArgumentParser
import Foundation
import HTTPTypes

/// Prints the diagnostics that the options select, in addition to the response.
struct Inspector {
    private let options: InspectionOptions
    private let style: Style
    private let output = OutputFacts.standardError
    private let redaction: Redaction

    init(_ options: InspectionOptions, colors: ColorOptions) {
        self.options = options
        style = colors.style(for: output)
        redaction = Redaction(showsSecrets: options.showSecrets)
    }

    /// With `--verbose`, wraps a transport in a transport that logs every exchange.
    func watch(
        _ transport: any Transport, write: @escaping @Sendable (String) -> Void = StandardError.write
    ) -> any Transport {
        guard options.verbose else { return transport }
        return VerboseTransport(base: transport, log: VerboseLog(style: style, redaction: redaction, write: write))
    }

    /// Prints the outcome of a request with `--verbose`, and its timing chart with `--timing`.
    func showSummary(of request: Request) {
        if options.verbose { StandardError.write("* \(RequestSummary(request, redaction: redaction).text)\n") }
        guard options.timing, let metrics = request.metrics else { return }
        let isSecure = request.lastRequest?.url?.scheme?.lowercased() == "https"
        StandardError.write(Waterfall(style: style, output: output).text(metrics, isSecure: isSecure))
    }

    /// Prints a command line, with a note if its secrets are hidden.
    func printCurlCommand(_ command: CurlCommand, for plan: RequestPlan) throws {
        try plan.check()
        let text = command.text(redaction)
        try StandardOutput.write(text + "\n")
        if text != command.text(Redaction(showsSecrets: true)) {
            StandardError.write("afar: Secrets are hidden as ***. To print them, use --show-secrets.\n")
        }
    }
}

// MARK: - Options

/// The options for diagnostics about a request.
struct InspectionOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "Show the request, the response headers and the connection on the standard error stream.")
    var verbose = false

    @Flag(help: "Show a timing chart on the standard error stream.")
    var timing = false

    @Flag(help: "Print the equivalent curl command line instead of sending the request.")
    var curl = false

    @Flag(help: "Show passwords, tokens and cookies in the output of --verbose and --curl instead of ***.")
    var showSecrets = false

    func validate() throws {
        if curl, timing { throw ValidationError("--timing can't be combined with --curl, which sends nothing.") }
    }
}

// MARK: - Logging exchanges

/// Logs every exchange of a transport as it happens.
struct VerboseTransport: Transport {
    let base: any Transport
    let log: VerboseLog

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        let isSecure = exchange.request.scheme == "https"
        var exchange = exchange
        exchange.observer = HeadObserver(log: log, next: exchange.observer)
        log.sending(exchange)
        do {
            let response = try await base.send(exchange)
            log.ended(response.report, isSecure: isSecure)
            return response
        } catch let error as TransportError {
            if error.underlying is UndecidedTrust { log.certificatesArrived() } else { log.failed(error) }
            log.ended(error.report, isSecure: isSecure)
            throw error
        }
    }

    func closeIdleConnections() { base.closeIdleConnections() }
}

/// Logs response heads as they arrive, and forwards all events.
final class HeadObserver: ExchangeObserver {
    private let log: VerboseLog
    private let next: (any ExchangeObserver)?

    init(log: VerboseLog, next: (any ExchangeObserver)?) {
        self.log = log
        self.next = next
    }

    func exchangeDidReceiveInformational(_ head: ResponseHead) {
        log.received(head)
        next?.exchangeDidReceiveInformational(head)
    }

    func exchangeDidReceiveHead(_ head: ResponseHead) {
        log.received(head)
        next?.exchangeDidReceiveHead(head)
    }

    func exchangeDidSend(bytes: Int64, expected: Int64?) { next?.exchangeDidSend(bytes: bytes, expected: expected) }

    func exchangeWillFollow(_ redirect: Redirect) { next?.exchangeWillFollow(redirect) }

    func exchangeWillAnswerChallenge(in head: ResponseHead) { next?.exchangeWillAnswerChallenge(in: head) }

    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        next?.exchangeDidReceive(bytes: bytes, expected: expected)
    }
}

/// Logs exchanges line by line in the style of `curl -v`: `>` marks sent lines, `<` received lines, and `*` other information.
struct VerboseLog: Sendable {
    let style: Style
    let redaction: Redaction
    let write: @Sendable (String) -> Void

    /// Logs a request before the transport adds its own headers.
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

    /// Logs a final or informational head.
    func received(_ head: ResponseHead) {
        let status = style.paint(StatusLine.text(of: head.status), StatusLine.paint(for: head.status))
        let fields = head.fields.map { line($0.name.rawName, $0.value) }
        print("<", ["\(TerminalText.line(head.httpVersion)) \(status)"] + fields + [""])
    }

    /// Logs the trailers and measurements at the end of an exchange.
    func ended(_ report: TransportReport, isSecure: Bool) {
        for field in report.trailers { print("<", ["trailer \(line(field.name.rawName, field.value))"]) }
        print("*", report.transactions.flatMap { ConnectionSummary($0, isSecure: isSecure).lines })
    }

    /// Logs that the connection was closed before anything was sent, pending the trust decision.
    func certificatesArrived() {
        print("*", ["Evaluating the server's certificates. Nothing has been sent yet."])
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

// MARK: - Equivalent curl command

extension CurlCommand {
    /// Creates the curl command that sends the same request.
    ///
    /// - Parameter more: Additional options for curl.
    init(_ plan: RequestPlan, sentWith options: some RequestSending, more: [String]) {
        let sending = options.sending
        self.init(
            method: plan.method.rawValue, url: plan.url, headers: plan.headersWithCookies, body: plan.body?.curlBody)
        isDecoding = plan.headers["Accept-Encoding"] == nil
        maximumRedirects = sending.follow ? sending.maxRedirects ?? SessionConfiguration.default.maximumRedirects : nil
        let timeout = sending.timeout.map { ["--max-time", Self.seconds($0)] } ?? []
        let retries = sending.retry > 0 ? ["--retry", "\(sending.retry)", "--retry-connrefused"] : []
        let cookies = sending.cookieJar.map { ["--cookie", $0, "--cookie-jar", $0] } ?? []
        self.options =
            timeout + retries + cookies + Self.options(options.network) + Self.options(plan.security, for: plan.url)
            + more
    }

    private static func options(_ network: NetworkOptions) -> [String] {
        let proxy = network.proxy.map { ["--proxy", $0 == "none" ? "" : Redaction.standard.url($0)] } ?? []
        let socket = network.unixSocket.map { ["--unix-socket", $0] } ?? []
        let interface = network.interface.map { ["--interface", $0] } ?? []
        let version = network.http.map { [$0.curlOption] } ?? []
        let family = network.addressFamily.map { ["--\($0.rawValue)"] } ?? []
        let probes = network.keepaliveTime.map { ["--keepalive-time", "\($0)"] } ?? []
        let doh = network.dohUrl.map { ["--doh-url", Redaction.standard.url($0)] } ?? []
        let rate = network.limitRate.map { ["--limit-rate", $0.text] } ?? []
        return version + proxy + socket + network.connectTo.flatMap { ["--connect-to", $0] } + interface + family
            + probes + doh + rate
    }

    /// Returns the options without a password; curl prompts for it.
    private static func options(_ security: SecurityOptions, for url: String) -> [String] {
        let pins = security.pin.map { (try? PublicKey(pin: $0).pin) ?? $0 }
        let files = [
            ("--cacert", security.cacert),
            // curl expects the passphrase after a colon.
            ("--cert", security.cert?.replacing(":", with: "\\:")), ("--key", security.key),
            ("--pinnedpubkey", pins.isEmpty ? nil : pins.joined(separator: ";")),
        ]
        // Basic credentials are already in a header.
        let name = security.auth == .basic ? nil : security.user.map { String($0.prefix { $0 != ":" }) }
        let user = (name ?? (security.auth == .negotiate ? ":" : nil)).map { ["--user", $0] } ?? []
        let scheme = user.isEmpty ? [] : ["--\(security.auth?.rawValue ?? "anyauth")"]
        let netrc = security.netrcFile(for: url).map { ["--netrc-file", $0] } ?? []
        return netrc + files.flatMap { option, value in value.map { [option, $0] } ?? [] }
            + (security.isArchive ? ["--cert-type", "P12"] : []) + scheme + user
            + (security.skipsVerification(of: url) ? ["--insecure"] : [])
    }

    /// Formats a timeout for curl, which doesn't accept exponents and interprets 0 as no limit.
    private static func seconds(_ seconds: Double) -> String {
        seconds.rounded() == seconds ? String(Int(seconds)) : String(format: "%.3f", max(0.001, seconds))
    }
}

extension CurlCommand {
    /// Creates the curl command that sends the same request and prints the same parts of the response.
    init(_ plan: RequestPlan, _ options: any ResponseCommand, more: [String] = []) {
        let choices = [
            ("--fail-with-body", options.output.checkStatus),
            ("--include", options.output.include && plan.method != .head),
            ("--verbose", options.inspection.verbose),
        ]
        self.init(plan, sentWith: options, more: choices.filter(\.1).map(\.0) + more)
    }
}
