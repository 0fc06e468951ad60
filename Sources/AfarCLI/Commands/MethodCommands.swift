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

/// A command that sends one request with a fixed method.
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
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
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
                    .usage, "\(option) can't be combined with --retry: a retry can't take back printed output.")
            }
            guard !format.isEvents || output.charset == nil else {
                throw Failure(.usage, "--sse can't be combined with --charset: server-sent events are always UTF-8.")
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
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions
}

// MARK: - Methods with a body

/// A method whose requests can have a body, and its command's configuration.
protocol BodyMethod {
    static var method: HTTPMethod { get }
    static var configuration: CommandConfiguration { get }
}

/// The command for a method whose requests can have a body.
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
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions
}

enum Post: BodyMethod {
    static let method = HTTPMethod.post
    static let configuration = CommandConfiguration(
        abstract: "Submit data to a resource.",
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

/// Sends one request and prints the response.
struct RequestRunner {
    let plan: RequestPlan
    let options: any ResponseCommand
    /// The printer for the response; nil for ``ResponsePrinter``.
    var printer: (any BodyPrinter)?

    func run() async throws {
        let inspector = Inspector(options.inspection, colors: options.colors)
        if options.inspection.curl { return try inspector.printCurlCommand(CurlCommand(plan, options), for: plan) }
        let spinner = Spinner(waitingFor: URLText.host(of: plan.url), isVerbose: options.inspection.verbose)
        let session = try options.makeSession(for: plan.url) { inspector.watch($0) }
        // Releasing the session would end the request.
        defer { withExtendedLifetime(session) {} }
        let request = session.request(plan.url, method: plan.method, headers: plan.headers) { [body = plan.body] in
            $0.httpBody = body?.bytes
        }
        Retries(options.sending).apply(to: request)
        let report = ResponseReport(plan: plan, options: options, inspector: inspector, printer: printer)
        let response = await report.response(of: request)
        spinner?.stop()
        try report.print(response, of: request)
    }
}

/// Prints the response of any kind of request as the options specify.
struct ResponseReport {
    let plan: RequestPlan
    let options: any ResponseCommand
    let inspector: Inspector
    private let printer: any BodyPrinter

    /// The statuses for which an empty body is accepted: all of them.
    private static let anyStatus = Set(100...999)

    /// - Parameter printer: The printer for the response; nil for ``ResponsePrinter``.
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

    /// Returns the response after its entire body has arrived.
    func response(of request: DataRequest) async -> AFDataResponse<Data> {
        await request.serializingData(emptyResponseCodes: Self.anyStatus).response
    }

    /// Prints the response, or throws the request's failure.
    func print(_ response: AFDataResponse<Data>, of request: DataRequest) throws {
        // Validation only triggers retries. A response that isn't retried is printed whatever its status.
        if let error = response.error, !error.isResponseValidationError {
            inspector.showSummary(of: request)
            throw Failure(error, url: plan.url)
        }
        guard let head = request.responseHead else {
            throw Failure(.other, "No response from \(Redaction.standard.url(plan.url)).")
        }
        let body = response.value ?? request.data ?? Data()
        let output = Result { try printer.output(head: head, body: body) }
        if case .success(let bytes) = output { try StandardOutput.write(bytes) }
        inspector.showSummary(of: request)
        try options.output.check(head, url: plan.url)
        _ = try output.get()
    }
}
