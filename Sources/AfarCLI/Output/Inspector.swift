import Afar
import ArgumentParser
import Foundation
import HTTPTypes

/// Shows what a person asked to see of a request beside its response.
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

    /// Puts a transport that writes everything down around another, with `--verbose`.
    func watch(
        _ transport: any Transport, write: @escaping @Sendable (String) -> Void = StandardError.write
    ) -> any Transport {
        guard options.verbose else { return transport }
        return VerboseTransport(base: transport, log: VerboseLog(style: style, redaction: redaction, write: write))
    }

    /// Says what came of a request, with `--verbose`, and draws where the time went, with `--timing`.
    func showSummary(of request: Request) {
        if options.verbose { StandardError.write("* \(RequestSummary(request, redaction: redaction).text)\n") }
        guard options.timing, let metrics = request.metrics else { return }
        let isSecure = request.lastRequest?.url?.scheme?.lowercased() == "https"
        StandardError.write(Waterfall(style: style, output: output).text(metrics, isSecure: isSecure))
    }

    /// Prints a command line, and says so when it is not complete.
    func printCurlCommand(_ command: CurlCommand, for plan: RequestPlan) throws {
        try plan.check()
        let text = command.text(redaction)
        try StandardOutput.write(text + "\n")
        if text != command.text(Redaction(showsSecrets: true)) {
            StandardError.write("afar: Secrets are hidden behind ***; --show-secrets prints them.\n")
        }
    }
}

// MARK: - Options

/// What is shown of a request, beside the response or instead of it.
struct InspectionOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "Show the request, the response's head and the connection on the standard error stream.")
    var verbose = false

    @Flag(help: "Show where the time went, on the standard error stream.")
    var timing = false

    @Flag(help: "Send nothing: print the command line that makes curl send the same.")
    var curl = false

    @Flag(help: "Do not hide passwords, tokens and cookies behind *** in what --verbose and --curl show.")
    var showSecrets = false

    func validate() throws {
        if curl, timing { throw ValidationError("--curl sends nothing, so there is nothing for --timing to measure.") }
    }
}

// MARK: - Writing exchanges down

/// Writes down every exchange that goes through a transport, while it happens.
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

/// Writes down heads as they arrive, and passes everything on.
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

// MARK: - The same for curl

extension CurlCommand {
    /// What the tool would send.
    ///
    /// - Parameter more: What curl is to do beside sending.
    init(_ plan: RequestPlan, sentWith options: some RequestSending, more: [String]) {
        let sending = options.sending
        let body: Body? = plan.body.map { body in body.path.map { .file(path: $0) } ?? .data(body.bytes) }
        self.init(method: plan.method.rawValue, url: plan.url, headers: plan.headers, body: body)
        isDecoding = plan.headers["Accept-Encoding"] == nil
        maximumRedirects = sending.follow ? sending.maxRedirects ?? SessionConfiguration.default.maximumRedirects : nil
        let timeout = sending.timeout.map { ["--max-time", Self.seconds($0)] } ?? []
        let retries = sending.retry > 0 ? ["--retry", "\(sending.retry)", "--retry-connrefused"] : []
        let cookies = sending.cookieJar.map { ["--cookie", $0, "--cookie-jar", $0] } ?? []
        self.options =
            timeout + retries + cookies + Self.options(options.network) + Self.options(options.security, for: plan.url)
            + more
    }

    private static func options(_ network: NetworkOptions) -> [String] {
        let proxy = network.proxy.map { ["--proxy", $0 == "none" ? "" : Redaction.standard.url($0)] } ?? []
        let socket = network.unixSocket.map { ["--unix-socket", $0] } ?? []
        let interface = network.interface.map { ["--interface", $0] } ?? []
        let version = network.http.map { [$0.curlOption] } ?? []
        let family = network.addressFamily.map { ["--\($0.rawValue)"] } ?? []
        let probes = network.keepaliveTime.map { ["--keepalive-time", "\($0)"] } ?? []
        return version + proxy + socket + network.connectTo.flatMap { ["--connect-to", $0] } + interface + family
            + probes
    }

    /// Without a password, for which curl asks.
    private static func options(_ security: SecurityOptions, for url: String) -> [String] {
        let pins = security.pin.map { (try? PublicKey(pin: $0).pin) ?? $0 }
        let files = [
            ("--cacert", security.cacert),
            // After a colon curl expects the passphrase.
            ("--cert", security.cert?.replacing(":", with: "\\:")), ("--key", security.key),
            ("--pinnedpubkey", pins.isEmpty ? nil : pins.joined(separator: ";")),
        ]
        // With basic there is a header already.
        let name = security.auth == .basic ? nil : security.user.map { String($0.prefix { $0 != ":" }) }
        let user = (name ?? (security.auth == .negotiate ? ":" : nil)).map { ["--user", $0] } ?? []
        let scheme = user.isEmpty ? [] : ["--\(security.auth?.rawValue ?? "anyauth")"]
        return files.flatMap { option, value in value.map { [option, $0] } ?? [] }
            + (security.isArchive ? ["--cert-type", "P12"] : []) + scheme + user
            + (security.isBlind(to: url) ? ["--insecure"] : [])
    }

    /// As curl reads it, which knows no exponents and takes 0 for no limit.
    private static func seconds(_ seconds: Double) -> String {
        seconds.rounded() == seconds ? String(Int(seconds)) : String(format: "%.3f", max(0.001, seconds))
    }
}

extension CurlCommand {
    /// What the tool would send, and print of the response.
    init(_ plan: RequestPlan, _ options: any ResponseCommand, more: [String] = []) {
        let choices = [
            ("--fail-with-body", options.output.checkStatus),
            ("--include", options.output.include && plan.method != .head),
            ("--verbose", options.inspection.verbose),
        ]
        self.init(plan, sentWith: options, more: choices.filter(\.1).map(\.0) + more)
    }
}
