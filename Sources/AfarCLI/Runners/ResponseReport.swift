import Afar
import Foundation

/// Prints a response as the options say, whatever request it came of.
struct ResponseReport {
    let plan: RequestPlan
    let options: any ResponseCommand
    let inspector: Inspector
    private let printer: any BodyPrinter

    /// Whatever its status, a response may be empty here.
    private static let anyStatus = Set(100...999)

    /// - Parameter printer: What prints the response; nil for what prints any.
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

    /// The response with its whole body.
    func response(of request: DataRequest) async -> AFDataResponse<Data> {
        await request.serializingData(emptyResponseCodes: Self.anyStatus).response
    }

    /// Prints the response, or throws what went wrong.
    func print(_ response: AFDataResponse<Data>, of request: DataRequest) throws {
        // A status after which no retry was left is a response like any other.
        if let error = response.error, !error.isResponseValidationError {
            inspector.showSummary(of: request)
            throw Failure(error, url: plan.url)
        }
        guard let head = request.responseHead else {
            throw Failure(.other, "\(Redaction.standard.url(plan.url)) gave no response.")
        }
        let body = response.value ?? request.data ?? Data()
        let output = Result { try printer.output(head: head, body: body) }
        if case .success(let bytes) = output { try StandardOutput.write(bytes) }
        inspector.showSummary(of: request)
        try options.output.check(head, url: plan.url)
        _ = try output.get()
    }
}
