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
    /// The last request that was sent, if it is printed.
    private let record: SentRequestRecord?
    /// Prints requests instead of sending them; nil to send them.
    private let offline: OfflineOutput?
    /// The logs of `--verbose`.
    private let logs = Locked<[VerboseLog]>([])

    init(_ options: InspectionOptions, colors: ColorOptions) {
        self.options = options
        style = colors.style(for: output)
        redaction = Redaction(showsSecrets: options.showSecrets)
        (record, offline) = (nil, nil)
    }

    init(_ command: any ResponseCommand) {
        options = command.inspection
        style = command.colors.style(for: output)
        redaction = Redaction(showsSecrets: options.showSecrets)
        let parts = command.output.explicitParts
        if command.output.offline {
            record = nil
            offline = OfflineOutput(
                parts: parts ?? .request, style: command.colors.style(for: .standardOutput), redaction: redaction)
        } else {
            record = parts?.isDisjoint(with: .request) == false ? SentRequestRecord() : nil
            offline = nil
        }
    }

    /// Wraps a transport in one that logs every exchange with `--verbose`, or that prints requests with `--offline`.
    func watch(
        _ transport: any Transport, write: @escaping @Sendable (String) -> Void = StandardError.write
    ) -> any Transport {
        if let offline { return OfflineTransport(capabilities: transport.capabilities, output: offline) }
        guard options.verbose || record != nil else { return transport }
        let log = options.verbose ? VerboseLog(style: style, redaction: redaction, write: write) : nil
        if let log { logs.withLock { $0.append(log) } }
        return WatchedTransport(base: transport, log: log, record: record)
    }

    /// Returns whether the request was printed instead of being sent.
    ///
    /// - Throws: The ``Failure`` if the output couldn't be written.
    func hasPrintedRequest() throws -> Bool { try offline?.check(with: self) ?? false }

    /// Returns the parts of the last request that are printed before the response.
    func requestText(_ parts: OutputParts, _ style: Style) -> Data {
        guard let request = record?.last else { return Data() }
        let printer = RequestPrinter(parts: parts, style: style, redaction: redaction)
        if printer.hidesSecrets(of: request) { noteHiddenSecrets() }
        return printer.text(of: request)
    }

    /// Prints a note on standard error that secrets are hidden.
    func noteHiddenSecrets() {
        Messages.note("Secrets are hidden as ***. To print them, use --show-secrets.")
    }

    /// Prints the outcome of a request with `--verbose`, and its timing chart with `--timing`.
    func showSummary(of request: Request) async {
        for log in logs.withLock({ $0 }) { await log.finish() }
        if options.verbose { StandardError.write("* \(RequestSummary(request, redaction: redaction).text)\n") }
        guard options.timing, let metrics = request.metrics else { return }
        let isSecure = request.lastRequest?.url?.scheme?.lowercased() == "https"
        StandardError.write(Waterfall(style: style, output: output).text(metrics, isSecure: isSecure))
    }

    /// Prints a command line, with notes if its secrets are hidden or left out.
    ///
    /// - Parameter command: Returns the command with or without the passwords of options.
    func printCurlCommand(for plan: RequestPlan, _ command: (_ showsSecrets: Bool) -> CurlCommand) throws {
        try plan.check()
        let printed = command(options.showSecrets)
        let text = printed.text(redaction)
        try StandardOutput.write(text + "\n")
        var complete = command(true)
        if printed.user != complete.user {
            Messages.note("The password of --user is left out, so curl asks for it. To print it, use --show-secrets.")
            complete.user = printed.user
        }
        if text != complete.text(Redaction(showsSecrets: true)) { noteHiddenSecrets() }
    }
}

// MARK: - Options

/// The options for diagnostics about a request.
struct InspectionOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "Show all requests, response headers and connections on the standard error stream.")
    var verbose = false

    @Flag(help: "Show a timing chart on the standard error stream.")
    var timing = false

    @Flag(help: "Print the equivalent curl command line instead of sending the request.")
    var curl = false

    @Flag(
        help: "Show passwords, tokens and cookies instead of *** in what --verbose, --print, --offline and --curl show."
    )
    var showSecrets = false
}

// MARK: - Equivalent curl command

extension CurlCommand {
    /// Creates the curl command that sends the same request.
    ///
    /// - Parameters:
    ///   - showsSecrets: Whether the command contains passwords.
    ///   - more: Additional options for curl.
    init(_ plan: RequestPlan, sentWith options: some RequestSending, showsSecrets: Bool, more: [String]) {
        let sending = options.sending
        self.init(
            method: plan.method.rawValue, url: plan.url, headers: plan.headersWithCookies,
            body: plan.body?.curlBody(Redaction(showsSecrets: showsSecrets), type: plan.headers["Content-Type"]))
        suppressedHeaders = plan.removedHeaders
        isDecoding = plan.headers["Accept-Encoding"] == nil
        maximumRedirects = sending.follow ? sending.maxRedirects ?? SessionConfiguration.default.maximumRedirects : nil
        let timeout =
            (sending.timeout.map { ["--max-time", Self.seconds($0.seconds)] } ?? [])
            + (sending.connectTimeout.map { ["--connect-timeout", Self.seconds($0.seconds)] } ?? [])
        let retries = Retries(sending).curlOptions
        var files = sending.cookieFiles
        if let jar = options.cookieJar, !plan.removes("Cookie") { files.append(jar) }
        // With cookie files, curl would send this header in addition to the files' cookies.
        if !files.isEmpty, let field = headers["Cookie"], field.contains("=") {
            headers.remove(name: "Cookie")
            self.cookies = field
        }
        let cookies = files.flatMap { ["--cookie", $0] } + (options.cookieJar.map { ["--cookie-jar", $0] } ?? [])
        self.options =
            timeout + retries + cookies + Self.options(options.network, showsSecrets: showsSecrets)
            + Self.options(plan.security, options.network, for: plan.url, showsSecrets: showsSecrets)
            + more
    }

    private static func options(_ network: NetworkOptions, showsSecrets: Bool) -> [String] {
        let redaction = Redaction(showsSecrets: showsSecrets)
        let proxy = network.proxy.map { ["--proxy", $0 == "none" ? "" : redaction.url($0)] } ?? []
        let socket = network.unixSocket.map { ["--unix-socket", $0] } ?? []
        let interface = network.interface.map { ["--interface", $0] } ?? []
        let version = network.http.map { [$0.curlOption] } ?? []
        let family = network.addressFamily.map { ["--\($0.rawValue)"] } ?? []
        let probes = network.keepaliveTime.map { ["--keepalive-time", "\($0.wholeSeconds)"] } ?? []
        let doh = network.dohUrl.map { ["--doh-url", redaction.url($0)] } ?? []
        let rate = network.limitRate.map { ["--limit-rate", $0.text] } ?? []
        return version + proxy + socket + network.connectTo.flatMap { ["--connect-to", $0] } + interface + family
            + probes + doh + rate
    }

    /// Returns the options. Unless secrets are shown, they have no password, and curl prompts for it.
    private static func options(
        _ security: SecurityOptions, _ network: NetworkOptions, for url: String, showsSecrets: Bool
    ) -> [String] {
        let pins = security.pin.map { (try? PublicKey(pin: $0).pin) ?? $0 }
        let files = [
            ("--cacert", security.cacert),
            // curl expects the passphrase after a colon.
            ("--cert", security.cert?.replacing(":", with: "\\:")), ("--key", security.key),
            ("--pinnedpubkey", pins.isEmpty ? nil : pins.joined(separator: ";")),
        ]
        // Basic credentials are already in a header.
        let name = security.auth == .basic ? nil : security.curlUser(withPassword: showsSecrets)
        let user = (name ?? (security.auth == .negotiate ? ":" : nil)).map { ["--user", $0] } ?? []
        let scheme = user.isEmpty ? [] : ["--\(security.auth?.rawValue ?? "anyauth")"]
        let netrc = security.netrcFile(for: url, over: network).map { ["--netrc-file", $0] } ?? []
        return netrc + files.flatMap { option, value in value.map { [option, $0] } ?? [] }
            + (security.isArchive ? ["--cert-type", "P12"] : []) + scheme + user
            + (security.skipsVerification(of: url) ? ["--insecure"] : [])
            + (security.tlsMin == .three ? ["--tlsv1.3"] : [])
    }

    /// The value of curl's `--user`, if any.
    fileprivate var user: String? {
        get { userIndex.map { options[$0] } }
        set { if let newValue, let userIndex { options[userIndex] = newValue } }
    }

    private var userIndex: Int? {
        options.firstIndex(of: "--user").map { $0 + 1 }.flatMap { options.indices.contains($0) ? $0 : nil }
    }

    /// Formats a timeout for curl, which doesn't accept exponents and interprets 0 as no limit.
    private static func seconds(_ seconds: Double) -> String {
        seconds.rounded() == seconds ? String(Int(seconds)) : String(format: "%.3f", max(0.001, seconds))
    }
}

extension CurlCommand {
    /// Creates the curl command that sends the same request and prints the same parts of the response.
    init(_ plan: RequestPlan, _ options: any ResponseCommand, showsSecrets: Bool, more: [String] = []) {
        let choices = [
            (
                options.output.statusCheck?.omitsBody == true ? "--fail" : "--fail-with-body",
                options.output.statusCheck != nil
            ),
            ("--include", options.output.include && plan.method != .head),
            ("--verbose", options.inspection.verbose), ("--silent", options.messages.silent),
            ("--show-error", options.messages.showError),
        ]
        let text = options.output.writeOut.map { ["--write-out", $0.argument] } ?? []
        self.init(
            plan, sentWith: options, showsSecrets: showsSecrets,
            more: choices.filter(\.1).map(\.0) + text + more)
    }
}
