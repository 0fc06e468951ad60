import Afar
import Foundation
import HTTPTypes

/// Makes one request and puts what it brings into a file.
struct DownloadRunner {
    let plan: RequestPlan
    let options: Download

    func run() async throws {
        let inspector = Inspector(options.inspection, colors: options.colors)
        if options.inspection.curl { return try inspector.printCurlCommand(curlCommand, for: plan) }
        let target = try DownloadTarget(options.file, url: plan.url)
        try plan.check()
        let interruption = await Interruption()
        let resumable =
            options.file.resume ? try ResumableDownloadDirectory(at: target.partPath, for: plan.urlRequest()) : nil
        let directory: any DownloadDirectory = try resumable ?? TemporaryDownloadDirectory(beside: target.directoryPath)
        let outcome: Outcome
        do {
            outcome = try await download(to: target, resuming: resumable, inspector, interruption)
        } catch {
            directory.cleanUp(keeping: nil)
            throw error
        }
        directory.cleanUp(keeping: outcome.resumeData)
        if case .failure = outcome.path { interruption.reraise() }
        try StandardOutput.write(outcome.path.get() + "\n")
    }

    private struct Outcome {
        /// The path of the file, when the file is there.
        var path: Result<String, Failure>
        /// What a next run can resume; nil where there is nothing.
        var resumeData: ResumeData?
    }

    private var curlCommand: CurlCommand {
        let destination = options.file.output.map { ["--output", $0] } ?? ["--remote-name", "--remote-header-name"]
        let continuation = options.file.resume ? ["--continue-at", "-"] : []
        return CurlCommand(plan, sentWith: options, more: ["--fail"] + continuation + destination)
    }

    private func download(
        to target: DownloadTarget, resuming resumable: ResumableDownloadDirectory?, _ inspector: Inspector,
        _ interruption: Interruption
    ) async throws -> Outcome {
        let meter = options.progress.makeMeter(options.colors)
        let running = Locked<DownloadRequest?>(nil)
        let session = try options.makeSession(for: plan.url) { base in
            DestinationCheckTransport(base: inspector.watch(base) { meter.write($0) }, target: target) { head in
                guard let resumable, let request = running.withLock({ $0 }) else { return }
                let next = request.resumableInFlight
                resumable.record(next)
                meter?.begin(at: request.bytesBefore)
                let line = ResumptionReport.line(
                    part: resumable.data, offset: request.bytesBefore, next: next, status: head.status)
                if let line { meter.write("afar: \(line)\n") }
            }
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
        running.withLock { $0 = request }
        if let data = resumable?.data { request.resume(from: data) }
        interruption.handle { request.cancel(producingResumeData: resumable != nil) }
        let response = await request.serializingDownloadedFileURL().response
        running.withLock { $0 = nil }
        if let error = response.error {
            meter?.abandon()
            inspector.showSummary(of: request)
            var failure = failure(error, request.responseHead)
            guard let resumable, let data = response.resumeData else { return Outcome(path: .failure(failure)) }
            failure.message += " What has arrived is kept in \(resumable.path), and --resume goes on from there."
            return Outcome(path: .failure(failure), resumeData: try? ResumeData(decoding: data))
        }
        meter?.finish(bytes: request.downloadProgress.completedUnitCount)
        inspector.showSummary(of: request)
        let disposition = request.responseHead?.value(for: .contentDisposition)
        return Outcome(path: .success(target.path(contentDisposition: disposition)))
    }

    private func failure(_ error: AFError, _ head: ResponseHead?) -> Failure {
        guard error.isResponseValidationError, let head else { return Failure(error, url: plan.url) }
        let status = StatusLine.text(of: head.status)
        return Failure(
            .httpStatus, "\(Redaction.standard.url(plan.url)) answered \(status), which is not 2xx. Nothing was saved."
        )
    }
}
