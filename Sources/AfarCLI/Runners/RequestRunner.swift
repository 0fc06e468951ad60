import Afar
import Foundation

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
