import Afar
import ArgumentParser
import Foundation

/// A command that prints a response.
protocol ResponseCommand: AsyncParsableCommand, RequestSending {
    var address: AddressArgument { get }
    var output: OutputOptions { get }
    var inspection: InspectionOptions { get }
    var colors: ColorOptions { get }
}

extension ResponseCommand {
    func validate() throws { try checkSending() }
}

/// A command that makes one request of its own method.
protocol MethodCommand: ResponseCommand {
    static var method: HTTPMethod { get }
    var body: BodyOptions { get }
}

extension MethodCommand {
    func run() async throws {
        try await RequestRunner(plan: RequestPlan(Self.method, address, self, body), options: self).run()
    }
}

// MARK: - GET and HEAD

struct Get: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch a resource.",
        usage: "afar get <url> [<options>]",
        examples: [
            "afar get example.com",
            "afar get :8080/search --query q=swift --query limit=10",
            "afar get :8080/users/1 -H 'Authorization: Bearer TOKEN' --check-status",
            "afar get example.com --timing > page.html",
            "afar get :8080/events --stream | grep error",
            "afar get :8080/feed --sse",
        ])
    static let method = HTTPMethod.get
    @OptionGroup(visibility: .hidden) var body: BodyOptions
    @OptionGroup(title: "Streaming") var streaming: StreamingOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let plan = try RequestPlan(Self.method, address, self, body)
        if let format = streaming.format {
            guard sending.retry == 0 else {
                let option = format.isEvents ? "--sse" : "--stream"
                throw Failure(
                    .usage, "What \(option) has printed cannot be taken back, so --retry does not go with it.")
            }
            guard !format.isEvents || output.charset == nil else {
                throw Failure(.usage, "Server-sent events are UTF-8, so --charset does not go with --sse.")
            }
            try await StreamRunner(plan: plan, options: self, format: format).run()
        } else {
            try await RequestRunner(plan: plan, options: self).run()
        }
    }
}

struct Head: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch the status and the headers, without the body.",
        usage: "afar head <url> [<options>]",
        examples: [
            "afar head example.com",
            "afar head example.com --verbose",
        ])
    static let method = HTTPMethod.head
    @OptionGroup(visibility: .hidden) var body: BodyOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions
}

// MARK: - Methods with a body

/// A method whose requests may have a body, and the help of its command.
protocol BodyMethod {
    static var method: HTTPMethod { get }
    static var configuration: CommandConfiguration { get }
}

/// The command of a method whose requests may have a body.
struct BodyCommand<Method: BodyMethod>: MethodCommand {
    static var configuration: CommandConfiguration {
        var configuration = Method.configuration
        configuration.commandName = method.rawValue.lowercased()
        return configuration
    }
    static var method: HTTPMethod { Method.method }

    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions
}

enum Post: BodyMethod {
    static let method = HTTPMethod.post
    static let configuration = CommandConfiguration(
        abstract: "Send something new.",
        usage: "afar post <url> [<body>] [<options>]",
        examples: [
            "afar post :8080/users --json name=Ada --json age:=36",
            "afar post :8080/login --form user=ada --form password=secret -i",
            "afar post :8080/notes --data @note.txt -H 'Content-Type: text/markdown'",
            "afar post :8080/users --json name=Ada --curl",
        ])
}

enum Put: BodyMethod {
    static let method = HTTPMethod.put
    static let configuration = CommandConfiguration(
        abstract: "Replace a resource.",
        usage: "afar put <url> [<body>] [<options>]",
        examples: [
            "afar put :8080/notes/1 --data @note.txt",
            "afar put :8080/users/7 --json name=Ada",
        ])
}

enum Patch: BodyMethod {
    static let method = HTTPMethod.patch
    static let configuration = CommandConfiguration(
        abstract: "Change part of a resource.",
        usage: "afar patch <url> [<body>] [<options>]",
        examples: [
            "afar patch :8080/users/7 --json name=Ada --json admin:=false"
        ])
}

enum Delete: BodyMethod {
    static let method = HTTPMethod.delete
    static let configuration = CommandConfiguration(
        abstract: "Remove a resource.",
        usage: "afar delete <url> [<body>] [<options>]",
        examples: [
            "afar delete :8080/users/7 --check-status"
        ])
}

// MARK: - Running a request

/// Makes one request and prints what comes of it.
struct RequestRunner {
    let plan: RequestPlan
    let options: any ResponseCommand
    /// Prints the response; nil for what prints any.
    var printer: (any BodyPrinter)?

    func run() async throws {
        let inspector = Inspector(options.inspection, colors: options.colors)
        if options.inspection.curl { return try inspector.printCurlCommand(CurlCommand(plan, options), for: plan) }
        let spinner = Spinner(waitingFor: URLText.host(of: plan.url), isVerbose: options.inspection.verbose)
        let session = try options.makeSession(for: plan.url) { inspector.watch($0) }
        // A request does not outlive its session.
        defer { withExtendedLifetime(session) {} }
        let request = session.request(plan.url, method: plan.method, headers: plan.headers) { [body = plan.body] in
            $0.httpBody = body?.bytes
        }
        Retries(limit: options.sending.retry).apply(to: request)
        let report = ResponseReport(plan: plan, options: options, inspector: inspector, printer: printer)
        let response = await report.response(of: request)
        spinner?.stop()
        try report.print(response, of: request)
    }
}

/// Prints a response as the options say, whatever request it came of.
struct ResponseReport {
    let plan: RequestPlan
    let options: any ResponseCommand
    let inspector: Inspector
    private let printer: any BodyPrinter

    /// Whatever its status, a response may be empty here.
    private static let anyStatus = Set(100...999)

    /// - Parameter printer: What prints the response; nil for what prints any.
    init(plan: RequestPlan, options: any ResponseCommand, inspector: Inspector, printer: (any BodyPrinter)? = nil) {
        self.plan = plan
        self.options = options
        self.inspector = inspector
        self.printer =
            printer
            ?? ResponsePrinter(
                style: options.colors.style(for: .standardOutput),
                includesHead: options.output.include || plan.method == .head, charset: options.output.charset)
    }

    /// The response with its whole body.
    func response(of request: DataRequest) async -> AFDataResponse<Data> {
        await request.serializingData(emptyResponseCodes: Self.anyStatus).response
    }

    /// Prints the response, or throws what went wrong.
    func print(_ response: AFDataResponse<Data>, of request: DataRequest) throws {
        // A status after which no retry was left is a response like any other.
        if let error = response.error, !error.isResponseValidationError {
            inspector.showSummary(of: request)
            throw Failure(error, url: plan.url)
        }
        guard let head = request.responseHead else {
            throw Failure(.other, "\(Redaction.standard.url(plan.url)) gave no response.")
        }
        let body = response.value ?? request.data ?? Data()
        let output = Result { try printer.output(head: head, body: body) }
        if case .success(let bytes) = output { try StandardOutput.write(bytes) }
        inspector.showSummary(of: request)
        try options.output.check(head, url: plan.url)
        _ = try output.get()
    }
}
