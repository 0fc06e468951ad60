import Afar
import AfarCore
import Foundation

/// Sends a file or a form, and prints what comes of it.
struct UploadRunner {
    let plan: RequestPlan
    let content: UploadContent
    let progress: ProgressOptions
    let options: any ResponseCommand

    func run() async throws {
        let inspector = Inspector(options.inspection, colors: options.colors)
        if options.inspection.curl { return try inspector.printCurlCommand(curlCommand, for: plan) }
        // A form may lie in a temporary file.
        let interruption = await Interruption()
        let meter = progress.makeMeter(options.colors)
        let session = try options.makeSession(for: plan.url) { inspector.watch($0) { meter.write($0) } }
        // A request does not outlive its session.
        defer { withExtendedLifetime(session) {} }
        let request = content.request(plan, in: session)
            .uploadProgress(queue: DispatchQueue(label: "afar.progress")) { meter?.update($0) }
        Retries(limit: options.sending.retry).apply(to: request)
        interruption.handle { request.cancel() }
        let report = ResponseReport(plan: plan, options: options, inspector: inspector)
        let response = await report.response(of: request)
        // A server may answer before it has everything.
        let sent = request.uploadProgress
        if response.error == nil, sent.totalUnitCount <= sent.completedUnitCount {
            meter?.finish(bytes: sent.completedUnitCount)
        } else {
            meter?.abandon()
        }
        interruption.reraise()
        try report.print(response, of: request)
    }

    private var curlCommand: CurlCommand {
        var command = CurlCommand(plan, options)
        command.body = content.curlBody
        return command
    }
}
