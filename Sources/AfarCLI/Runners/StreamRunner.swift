import Afar
import AfarCore
import Foundation

/// Makes one request and prints its body while it comes.
struct StreamRunner {
    let plan: RequestPlan
    let options: any ResponseCommand
    let format: StreamFormat

    init(plan: RequestPlan, options: any ResponseCommand, format: StreamFormat) {
        var plan = plan
        if format.isEvents, plan.headers["Accept"] == nil { plan.headers.add(.accept("text/event-stream")) }
        self.plan = plan
        self.options = options
        self.format = format
    }

    func run() async throws {
        let inspector = Inspector(options.inspection, colors: options.colors)
        if options.inspection.curl {
            return try inspector.printCurlCommand(CurlCommand(plan, options, more: ["--no-buffer"]), for: plan)
        }
        let session = try options.makeSession(for: plan.url) { inspector.watch($0) }
        // A request does not outlive its session.
        defer { withExtendedLifetime(session) {} }
        let output = StreamOutput(
            style: options.colors.style(for: .standardOutput), charset: options.output.charset)
        let request = session.streamRequest(plan.url, headers: plan.headers, automaticallyCancelOnStreamError: true)
        if options.output.include {
            request.onHTTPResponse(on: output.queue) { [weak request] _, answer in
                answer(output.write(head: request?.responseHead) ? .allow : .cancel)
            }
        }
        StandardOutput.onClose {
            output.fail(StandardOutput.Closed())
            request.cancel()
        }
        let completion = await output.completion(of: request, as: format)
        inspector.showSummary(of: request)
        try output.check()
        if let error = completion.error {
            throw error.isResponseValidationError ? noEventStream(error) : Failure(error, url: plan.url)
        }
        if let head = request.responseHead { try options.output.check(head, url: plan.url) }
    }

    /// The response is no stream of events.
    private func noEventStream(_ error: AFError) -> Failure {
        let place = Redaction.standard.url(plan.url)
        if let status = error.responseCode {
            return Failure(.httpStatus, "\(place) answered \(StatusLine.text(of: status)), and no stream of events.")
        }
        let type = error.responseContentType.map { TerminalText.line($0) } ?? "no content type"
        return Failure(.response, "\(place) answered with \(type), not text/event-stream. --stream prints it as it is.")
    }
}
