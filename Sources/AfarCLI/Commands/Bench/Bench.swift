import Afar
import AfarTransport
import ArgumentParser
import Foundation
import HTTPTypes

struct Bench: AsyncParsableCommand, ResultReporting {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Load a server with requests and measure the latency.",
        usage: "afar bench [<method>] <url> [<item> ...] [<options>]",
        discussion: """
            Sends the same request repeatedly on several connections. Prints the throughput, the statuses and the \
            percentiles of the latency. Failed requests are counted and don't end the run. Ctrl-C ends the run and prints \
            the results so far.

            With --rate, a latency begins when the request is due, even if all connections are busy. A stalled server \
            therefore affects all requests that are due during the stall (no coordinated omission).
            """,
        examples: [
            "afar bench :8080/json",
            "afar bench :8080/json -c 50 -z 30s",
            "afar bench :8080/json --rate 500 --report result.json",
            "afar bench :8080/post -n 1000 name=Ada",
        ])

    @OptionGroup(title: "Load") var load: LoadOptions
    @OptionGroup var target: RequestWords
    @OptionGroup(title: "Method") var choice: MethodOptions
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions

    func validate() throws {
        try checkSending()
        if let text = body.data.first, body.data.count == 1, text.wholeMatch(of: /\d+(ms|s|m|h)?/) != nil {
            throw ValidationError(
                "-d \(text) sends data. For the duration, write -z \(text); to send this text, --data-raw \(text).")
        }
    }

    func run() async throws {
        let plan = try RequestPlan(target.target(hasMethod: true), choice, commandMethod: nil, self, body)
        if case .form = plan.body {
            throw Failure(.usage, "afar bench can't send a multipart form. Send the bytes of a file with --raw @file.")
        }
        try plan.check()
        try await BenchRunner(plan: plan, options: self).run()
    }
}

// MARK: - Options

/// The options for the amount of load.
struct LoadOptions: ParsableArguments {
    @Option(
        name: [.customShort("c", allowingJoined: true), .long],
        help: ArgumentHelp("The number of requests in progress at the same time.", valueName: "number"))
    var concurrency = 10

    @Option(
        name: [.customShort("z", allowingJoined: true), .long],
        help: ArgumentHelp("How long to send requests: 10s, 500ms or 2m. (default: 10s)", valueName: "time"),
        transform: { try TimeArgument($0, option: "--duration") })
    var duration: TimeArgument?

    @Option(
        name: [.customShort("n", allowingJoined: true), .long],
        help: ArgumentHelp("Send this many requests, instead of --duration.", valueName: "number"))
    var requests: Int?

    @Option(
        help: ArgumentHelp(
            "Start requests at this rate per second. (default: the next request follows each response)",
            valueName: "number"))
    var rate: Double?

    func validate() throws {
        guard (1...10_000).contains(concurrency) else {
            throw ValidationError("--concurrency requires a number from 1 to 10000.")
        }
        if let requests, requests < 1 { throw ValidationError("--requests must be at least 1.") }
        if let rate {
            guard rate >= 0.001, rate <= 1_000_000 else {
                throw ValidationError("--rate must be at least 0.001 and at most 1000000 requests per second.")
            }
        }
    }

    /// The time during which requests are started, or nil if their number is limited instead.
    var timeLimit: Duration? { requests == nil ? duration?.duration ?? .seconds(10) : nil }
}

// MARK: - Running

/// Sends the requests and prints the results.
struct BenchRunner {
    let plan: RequestPlan
    let options: Bench

    func run() async throws {
        warnAboutOtherHost()
        let traffic = Traffic()
        let session = try options.makeSession(for: plan, connections: options.load.concurrency) {
            CountingTransport(base: $0, traffic: traffic)
        }
        var urlRequest = try plan.urlRequest()
        urlRequest.httpBody = plan.body?.bytes
        let interruption = await Interruption()
        let generator = LoadGenerator(load: options.load, session: session, urlRequest: urlRequest, traffic: traffic)
        let run = Task { await generator.run() }
        interruption.handle { run.cancel() }
        let result = await run.value
        let summary = BenchSummary(plan: plan, load: options.load, result: result)
        ReportFile.setResult(summary.members)
        try StandardOutput.write(summary.text)
        interruption.reraise()
        guard let error = result.firstError else { return }
        let failure = Failure(error, url: plan.url)
        guard result.responses > 0 else { throw failure }
        StandardError.write("afar: The first error: \(failure.message)\n")
    }

    /// Reminds the user that loading someone else's server requires permission.
    private func warnAboutOtherHost() {
        let network = options.network
        let request = try? HTTPRequest(plan.urlRequest(), bodyLength: nil)
        let settings = (try? network.settings(readsEnvironment: true)) ?? NetworkSettings()
        let isLocal = settings.staysOnThisMachine(scheme: request?.scheme, authority: request?.authority)
        guard network.unixSocket == nil, !isLocal else { return }
        StandardError.write(
            "afar: \(TerminalText.line(URLText.host(of: plan.url))) isn't this machine. You need permission to load this server.\n"
        )
    }
}
