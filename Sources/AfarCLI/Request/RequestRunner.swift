import Afar
import Foundation

/// Makes one request and prints what comes of it.
struct RequestRunner {
    let plan: RequestPlan
    let options: RequestOptions

    func run() async throws {
        var configuration = SessionConfiguration.default
        if let timeout = options.timeout {
            configuration.timeoutIntervalForResource = timeout
            configuration.timeoutIntervalForRequest = timeout
        }
        let session = Session(
            configuration: configuration, transport: options.transport.makeTransport(for: configuration))
        let request = session.request(plan.url, method: plan.method, headers: plan.headers) { [body = plan.body] in
            $0.httpBody = body?.bytes
        }
        // Whatever its status, a response may be empty here.
        let anyStatus = Set(100...999)
        let response = await request.serializingData(emptyResponseCodes: anyStatus).response
        if let error = response.error { throw Failure(error, url: plan.url) }
        guard let head = request.responseHead, let body = response.value else {
            throw Failure(.other, "\(URLText.withoutUserinfo(plan.url)) gave no response.")
        }
        let style = Style(options.color, output: .current)
        let text = style.isPretty ? try? await request.serializingString(emptyResponseCodes: anyStatus).value : nil
        let printer = ResponsePrinter(style: style, includesHead: options.include || plan.method == .head)
        try StandardOutput.write(printer.output(head: head, body: body, text: text))
        try checkStatus(of: head)
    }

    private func checkStatus(of head: ResponseHead) throws {
        guard options.checkStatus, !(200..<300).contains(head.status) else { return }
        throw Failure(
            .httpStatus,
            "\(URLText.withoutUserinfo(plan.url)) answered \(StatusLine.text(of: head.status)), which is not 2xx.")
    }
}
