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
        let inspector = Inspector(options)
        if options.inspection.curl {
            return try inspector.printCurlCommand(for: plan) { CurlCommand(plan, options, showsSecrets: $0) }
        }
        let isQuiet = options.inspection.verbose || options.output.offline || options.messages.silent
        let spinner = Spinner(waitingFor: URLText.host(of: plan.url), isHidden: isQuiet)
        let session = try options.makeSession(for: plan) { inspector.watch($0) }
        // Releasing the session would end the request.
        defer { withExtendedLifetime(session) {} }
        let request = plan.request(in: session)
        Retries(options.sending).apply(to: request)
        let report = ResponseReport(
            plan: plan, options: options, inspector: inspector, printer: printer, file: file)
        let response = await report.response(of: request)
        spinner?.stop()
        try await report.print(response, of: request)
    }
}

/// Prints the response of any kind of request as the options specify.
struct ResponseReport {
    let plan: RequestPlan
    let options: any ResponseCommand
    let inspector: Inspector
    private let parts: OutputParts
    private let style: Style
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
        parts = options.parts(of: plan.method, showsHead: printer == nil)
        style = options.colors.style(for: .standardOutput)
        self.printer = printer
        self.file = file
    }

    /// Returns the response after its entire body has arrived, or after its head if `--fail` omits the body.
    func response(of request: DataRequest) async -> AFDataResponse<Data> {
        let retries = Retries(options.sending)
        if options.output.statusCheck?.omitsBody == true, !isArchived {
            request.onHTTPResponse { [output = options.output, weak request] response -> Request.ResponseDisposition in
                // The body of a response that is retried, or could be with another method, is validated.
                let isRetried = request.map { retries.includes(response.statusCode, of: $0) } != false
                return output.omitsBody(status: response.statusCode) && !isRetried ? .cancel : .allow
            }
        }
        if printer == nil, !options.output.offline {
            let timeLimit = options.sending.timeout?.timeout
            file?.receiveBody(of: request, method: plan.method, timeLimit: timeLimit) {
                [output = options.output, weak request] status in
                !output.omitsBody(status: status) && request.map { retries.rejects(status, of: $0) } != true
            }
        }
        return await request.serializingData(emptyResponseCodes: Self.anyStatus).response
    }

    /// Whether an archive contains the entire response.
    private var isArchived: Bool { options.archive.har != nil || options.archive.record != nil }

    /// Prints the response, or throws the request's failure.
    func print(_ response: AFDataResponse<Data>, of request: DataRequest) async throws {
        if try inspector.hasPrintedRequest() { return }
        try await options.output.writingOut(request) { try await printParts(of: response, request) }
    }

    private func printParts(of response: AFDataResponse<Data>, _ request: DataRequest) async throws {
        try file?.check()
        // Validation only triggers retries. A response that isn't retried is printed whatever its status. A body that is omitted
        // doesn't need to be complete.
        let omitsBody = request.responseHead.map { options.output.omitsBody(status: $0.status) } ?? false
        if let error = response.error, !error.isResponseValidationError, !omitsBody {
            await inspector.showSummary(of: request)
            throw Failure(error, url: plan.url)
        }
        guard let head = request.responseHead else {
            throw Failure(.other, "No response from \(Redaction.standard.url(plan.url)).")
        }
        let body = response.value ?? request.data ?? Data()
        let output = Result { try text(head, body, of: request) }
        if case .success(let bytes) = output { try options.pager.write(bytes) }
        await inspector.showSummary(of: request)
        UnsentCredentials.report(plan.security, head)
        try options.output.check(head, url: plan.url)
        _ = try output.get()
    }

    /// Returns the output for a response. The output doesn't include a body that is written to a file.
    private func text(_ head: ResponseHead, _ body: Data, of request: DataRequest) throws -> Data {
        var parts = parts
        if options.output.omitsBody(status: head.status) { parts.remove(.responseBody) }
        if let file {
            if let printer, parts.contains(.responseBody) {
                try file.replaceContents(with: printer.output(head: head, body: body))
                try file.check()
            }
            parts.remove(.responseBody)
        }
        var text = inspector.requestText(parts, style)
        if parts.contains(.responseBody) {
            let standard = ResponsePrinter(
                style: style, includesHead: parts.contains(.responseHead), charset: options.output.charset)
            text += try (printer ?? standard).output(head: head, body: body)
        } else if parts.contains(.responseHead) {
            text += Data(ResponsePrinter.lines(of: head, style).utf8)
        }
        if parts.contains(.metadata) {
            if parts.contains(.responseBody) { text += Data(text.last == UInt8(ascii: "\n") ? "\n".utf8 : "\n\n".utf8) }
            text += Data(ExchangeFacts.text(of: request, style).utf8)
        }
        return text
    }
}
