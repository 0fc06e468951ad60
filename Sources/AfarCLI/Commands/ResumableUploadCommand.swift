import Afar
import AfarCore
import AfarResumableUploads
import ArgumentParser
import Foundation

/// The protocols of `--resumable`.
enum ResumableProtocolChoice: String, CaseIterable, ExpressibleByArgument {
    case tus, draft
    case draft3 = "draft-3"
    case draft5 = "draft-5"
    case draft6 = "draft-6"
    case draft7 = "draft-7"
    case draft8 = "draft-8"

    var uploadProtocol: ResumableUploadProtocol {
        switch self {
        case .tus: .tus
        case .draft, .draft8: .draft(.v8)
        case .draft3: .draft(.v3)
        case .draft5: .draft(.v5)
        case .draft6: .draft(.v6)
        case .draft7: .draft(.v7)
        }
    }
}

/// Sends a file with a protocol for resumable uploads and prints the body of the last response. If the body is empty, prints the
/// response's URL.
struct ResumableUploadRunner {
    let plan: RequestPlan
    let path: String
    let type: String
    let choice: ResumableProtocolChoice
    /// The path of the record, or nil for the file's path with a suffix.
    let record: String?
    let progress: ProgressOptions
    let options: any ResponseCommand

    private var recordPath: String { record ?? path + ".afar-upload" }

    func run() async throws {
        try checkMethod()
        let inspector = Inspector(options.inspection, colors: options.colors)
        let interruption = await Interruption()
        let meter = progress.makeMeter(options.colors, options.messages)
        let session = try options.makeSession(for: plan) { inspector.watch($0) { meter.write($0) } }
        let upload = session.uploadResumable(
            URL(filePath: path), to: plan.url, protocol: choice.uploadProtocol, headers: plan.headers,
            options: uploadOptions
        )
        .uploadProgress(queue: DispatchQueue(label: "afar.progress")) { meter?.update($0) }
        interruption.handle { upload.cancel() }
        switch await upload.result {
        case .success(let response):
            meter?.finish(bytes: upload.uploadProgress.completedUnitCount)
            interruption.reraise()
            guard !response.data.isEmpty else {
                return try StandardOutput.write("\(TerminalText.line(response.url?.absoluteString ?? plan.url))\n")
            }
            let style = options.colors.style(for: .standardOutput)
            let text = BodyText.readable(String(decoding: response.data, as: UTF8.self), MediaType(""), style)
            try StandardOutput.write(style.isPretty ? Data(text.utf8) : response.data)
        case .failure(let error):
            meter?.abandon()
            interruption.reraise()
            throw failure(error)
        }
    }

    /// Refuses a method that the protocol doesn't support.
    private func checkMethod() throws {
        guard choice != .tus || plan.method == .post else {
            throw Failure(
                .usage, "--method can't be combined with --resumable tus, which creates uploads with POST. Omit it.")
        }
    }

    private var uploadOptions: ResumableUploadOptions {
        var uploadOptions = ResumableUploadOptions(record: URL(filePath: recordPath))
        if choice == .tus {
            uploadOptions.metadata = ["filename": URL(filePath: path).lastPathComponent, "filetype": type]
        } else {
            uploadOptions.method = plan.method
        }
        return uploadOptions
    }

    private func failure(_ error: any Error) -> Failure {
        var failure = Failure(exitStatus(of: error), error.localizedDescription)
        if let cause = error as? AFError { failure = Failure(cause, url: plan.url) }
        let isInterrupted = failure.status == .connection || failure.status == .timeout
        if isInterrupted, FileManager.default.fileExists(atPath: recordPath) {
            failure.message += " Run the same command again to continue."
        }
        return failure
    }

    private func exitStatus(of error: any Error) -> ExitReason {
        switch error as? ResumableUploadError {
        case .rejected, .tooLarge, .requestTooLarge, .uploadGone: .httpStatus
        case .invalidOptions, .unreadableFile, .fileChanged, .invalidRecord, .recordInUse, .recordInaccessible: .usage
        case .noProgress, .tooManyInterruptions, .notResumable: .connection
        case .sourceFailed, .sourceCannotRewind, nil: .other
        case .unsupportedVersion, .invalidOffset, .lengthMismatch, .invalidLocation, .otherOrigin, .insecureLocation:
            .response
        }
    }
}
