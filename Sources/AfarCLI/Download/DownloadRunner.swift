import Afar
import Foundation
import HTTPTypes

/// Makes one request and puts what it brings into a file.
struct DownloadRunner {
    let plan: RequestPlan
    let options: Download

    func run() async throws {
        let inspector = Inspector(options.inspection, color: options.colors.color)
        if options.inspection.curl { return try inspector.printCurlCommand(curlCommand, for: plan) }
        let target = try DownloadTarget(options.file, url: plan.url)
        try plan.check()
        let interruption = await Interruption()
        let partial = try PartialFile(beside: target.place)
        let outcome = await load(target, inspector: inspector, interruption: interruption)
        partial.remove()
        if case .failure = outcome { interruption.passOn() }
        try StandardOutput.write(outcome.get() + "\n")
    }

    private var curlCommand: CurlCommand {
        let destination = options.file.output.map { ["--output", $0] } ?? ["--remote-name", "--remote-header-name"]
        return CurlCommand(plan, timeout: options.sending.timeout, options: ["--fail"] + destination)
    }

    /// Returns the path of the file, when the file is there.
    private func load(
        _ target: DownloadTarget, inspector: Inspector, interruption: Interruption
    ) async -> Result<String, Failure> {
        let meter = options.progress.makeMeter(options.colors)
        let session = options.sending.makeSession { base in
            ArrivalGate(base: inspector.watch(base) { meter.write($0) }, target: target)
        }
        // A request does not outlive its session.
        defer { withExtendedLifetime(session) {} }
        let destination: DownloadRequest.Destination = { _, response in
            let path = target.path(contentDisposition: response.headers["Content-Disposition"])
            return (URL(filePath: path), target.options)
        }
        let request = session.download(plan.url, headers: plan.headers, to: destination)
            .validate(statusCode: 200..<300)
            .downloadProgress(queue: DispatchQueue(label: "afar.progress")) { meter?.update($0) }
        interruption.handle { request.cancel() }
        let response = await request.serializingDownloadedFileURL().response
        if let error = response.error {
            meter?.abandon()
            inspector.showTiming(of: request)
            return .failure(failure(error, request.responseHead))
        }
        meter?.finish(bytes: request.downloadProgress.completedUnitCount)
        inspector.showTiming(of: request)
        return .success(target.path(contentDisposition: request.responseHead?.value(for: .contentDisposition)))
    }

    private func failure(_ error: AFError, _ head: ResponseHead?) -> Failure {
        guard error.isResponseValidationError, let head else { return Failure(error, url: plan.url) }
        let status = StatusLine.text(of: head.status)
        return Failure(
            .httpStatus, "\(URLText.withoutUserinfo(plan.url)) answered \(status), which is not 2xx. Nothing was saved."
        )
    }
}
