import Afar
import Foundation

/// Makes one request and prints what comes of it.
struct RequestRunner {
    let plan: RequestPlan
    let options: RequestOptions

    func run() async throws {
        let inspector = Inspector(options.inspection, color: options.colors.color)
        if options.inspection.curl { return try inspector.printCurlCommand(curlCommand, for: plan) }
        let session = options.sending.makeSession { inspector.watch($0) }
        // A request does not outlive its session.
        defer { withExtendedLifetime(session) {} }
        let request = session.request(plan.url, method: plan.method, headers: plan.headers) { [body = plan.body] in
            $0.httpBody = body?.bytes
        }
        // Whatever its status, a response may be empty here.
        let anyStatus = Set(100...999)
        let response = await request.serializingData(emptyResponseCodes: anyStatus).response
        if let error = response.error {
            inspector.showTiming(of: request)
            throw Failure(error, url: plan.url)
        }
        guard let head = request.responseHead, let body = response.value else {
            throw Failure(.other, "\(URLText.withoutUserinfo(plan.url)) gave no response.")
        }
        let style = Style(options.colors.color, output: .standardOutput)
        let text = style.isPretty ? try? await request.serializingString(emptyResponseCodes: anyStatus).value : nil
        let printer = ResponsePrinter(style: style, includesHead: options.output.include || plan.method == .head)
        try StandardOutput.write(printer.output(head: head, body: body, text: text))
        inspector.showTiming(of: request)
        try options.output.check(head, url: plan.url)
    }

    private var curlCommand: CurlCommand {
        let choices = [
            ("--fail-with-body", options.output.checkStatus),
            ("--include", options.output.include && plan.method != .head),
            ("--verbose", options.inspection.verbose),
        ]
        return CurlCommand(plan, timeout: options.sending.timeout, options: choices.filter(\.1).map(\.0))
    }
}
