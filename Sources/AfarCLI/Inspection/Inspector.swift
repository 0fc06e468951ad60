import Afar

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
