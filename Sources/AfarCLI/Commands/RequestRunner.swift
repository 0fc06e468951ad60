import Afar
import Foundation

/// Sends one request and prints the response.
struct RequestRunner {
    let plan: RequestPlan
    let options: any ResponseCommand
    /// The printer for the response; nil for ``ResponsePrinter``.
    var printer: (any BodyPrinter)?
    /// The file for the body; nil to print it.
    var file: OutputFile?

    func run() async throws {
        let inspector = Inspector(options.inspection, colors: options.colors)
        if options.inspection.curl { return try inspector.printCurlCommand(CurlCommand(plan, options), for: plan) }
        let spinner = Spinner(
            waitingFor: URLText.host(of: plan.url), isHidden: options.inspection.verbose || options.output.silent)
        let session = try options.makeSession(for: plan) { inspector.watch($0) }
        // Releasing the session would end the request.
        defer { withExtendedLifetime(session) {} }
        let request = plan.request(in: session)
        Retries(options.sending).apply(to: request)
        let report = ResponseReport(
            plan: plan, options: options, inspector: inspector, printer: printer, file: file)
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
    private let printer: (any BodyPrinter)?
    private let file: OutputFile?

    /// The statuses for which an empty body is accepted: all of them.
    private static let anyStatus = Set(100...999)

    /// - Parameters:
    ///   - printer: The printer for the response; nil for ``ResponsePrinter``.
    ///   - file: The file for the body; nil to print it.
    init(
        plan: RequestPlan, options: any ResponseCommand, inspector: Inspector, printer: (any BodyPrinter)? = nil,
        file: OutputFile? = nil
    ) {
        self.plan = plan
        self.options = options
        self.inspector = inspector
        self.printer = printer
        self.file = file
    }

    /// Returns the response after its entire body has arrived.
    func response(of request: DataRequest) async -> AFDataResponse<Data> {
        if printer == nil { file?.receiveBody(of: request) }
        return await request.serializingData(emptyResponseCodes: Self.anyStatus).response
    }

    /// Prints the response, or throws the request's failure.
    func print(_ response: AFDataResponse<Data>, of request: DataRequest) throws {
        try file?.check()
        // Validation only triggers retries. A response that isn't retried is printed whatever its status.
        if let error = response.error, !error.isResponseValidationError {
            inspector.showSummary(of: request)
            throw Failure(error, url: plan.url)
        }
        guard let head = request.responseHead else {
            throw Failure(.other, "No response from \(Redaction.standard.url(plan.url)).")
        }
        let body = response.value ?? request.data ?? Data()
        let output = Result { try self.output(head: head, body: body) }
        if case .success(let bytes) = output { try StandardOutput.write(bytes) }
        inspector.showSummary(of: request)
        try options.output.check(head, url: plan.url)
        _ = try output.get()
    }

    /// Returns the output for a response. A body that belongs into a file isn't part of it.
    private func output(head: ResponseHead, body: Data) throws -> Data {
        let style = options.colors.style(for: .standardOutput)
        let includesHead = options.output.include || plan.method == .head
        guard let file else {
            let standard = ResponsePrinter(style: style, includesHead: includesHead, charset: options.output.charset)
            return try (printer ?? standard).output(head: head, body: body)
        }
        if let printer {
            try file.replaceContents(with: printer.output(head: head, body: body))
            try file.check()
        }
        return includesHead ? Data(ResponsePrinter.lines(of: head, style).utf8) : Data()
    }
}
