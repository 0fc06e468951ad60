import Afar
import AfarCore
import Foundation

/// Makes one request and prints its body while it comes.
struct StreamRunner {
    let plan: RequestPlan
    let options: RequestOptions

    func run() async throws {
        let inspector = Inspector(options.inspection, color: options.colors.color)
        if options.inspection.curl {
            return try inspector.printCurlCommand(CurlCommand(plan, options, more: ["--no-buffer"]), for: plan)
        }
        let session = options.sending.makeSession { inspector.watch($0) }
        // A request does not outlive its session.
        defer { withExtendedLifetime(session) {} }
        let output = StreamOutput(style: Style(options.colors.color, output: .standardOutput))
        let request = session.streamRequest(plan.url, headers: plan.headers, automaticallyCancelOnStreamError: true)
        if options.output.include {
            request.onHTTPResponse(on: output.queue) { [weak request] _, answer in
                answer(output.write(head: request?.responseHead) ? .allow : .cancel)
            }
        }
        StandardOutput.whenClosed {
            output.fail(StandardOutput.Closed())
            request.cancel()
        }
        let completion = await output.completion(of: request)
        inspector.showEnd(of: request)
        try output.check()
        if let error = completion.error { throw Failure(error, url: plan.url) }
        if let head = request.responseHead { try options.output.check(head, url: plan.url) }
    }
}
