import Afar
import Foundation

/// Makes one request and prints what comes of it.
struct RequestRunner {
    let plan: RequestPlan
    let options: RequestOptions

    func run() async throws {
        let inspector = Inspector(options)
        if options.inspection.curl {
            try inspector.printCurlCommand(CurlCommand(plan: plan, options: options))
            return
        }
        let session = options.sending.makeSession(wrap: inspector.watch)
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
        let style = Style(options.output.color, output: .standardOutput)
        let text = style.isPretty ? try? await request.serializingString(emptyResponseCodes: anyStatus).value : nil
        let printer = ResponsePrinter(style: style, includesHead: options.output.include || plan.method == .head)
        try StandardOutput.write(printer.output(head: head, body: body, text: text))
        inspector.showTiming(of: request)
        try options.output.check(head, url: plan.url)
    }
}
