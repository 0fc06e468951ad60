import Afar
import Foundation

/// Prints a response as the options say, whatever request it came of.
struct ResponseReport {
    let plan: RequestPlan
    let options: RequestOptions
    let inspector: Inspector

    /// Whatever its status, a response may be empty here.
    private static let anyStatus = Set(100...999)

    /// The response with its whole body.
    func response(of request: DataRequest) async -> AFDataResponse<Data> {
        await request.serializingData(emptyResponseCodes: Self.anyStatus).response
    }

    /// Prints the response, or throws what went wrong.
    func print(_ response: AFDataResponse<Data>, of request: DataRequest) async throws {
        // A status after which no retry was left is a response like any other.
        if let error = response.error, !error.isResponseValidationError {
            inspector.showEnd(of: request)
            throw Failure(error, url: plan.url)
        }
        guard let head = request.responseHead else {
            throw Failure(.other, "\(URLText.withoutUserinfo(plan.url)) gave no response.")
        }
        let body = response.value ?? request.data ?? Data()
        let style = Style(options.colors.color, output: .standardOutput)
        let text = style.isPretty ? try? await request.serializingString(emptyResponseCodes: Self.anyStatus).value : nil
        let printer = ResponsePrinter(style: style, includesHead: options.output.include || plan.method == .head)
        try StandardOutput.write(printer.output(head: head, body: body, text: text))
        inspector.showEnd(of: request)
        try options.output.check(head, url: plan.url)
    }
}
