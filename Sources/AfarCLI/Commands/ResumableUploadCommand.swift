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

/// Sends a file with a protocol for resumable uploads, and prints the body of the last response, or the URL of the upload.
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
        guard !options.inspection.curl else {
            throw Failure(.usage, "--curl can't show a resumable upload, because it consists of several requests.")
        }
        let inspector = Inspector(options.inspection, colors: options.colors)
        let interruption = await Interruption()
        let meter = progress.makeMeter(options.colors)
        let session = try options.makeSession(for: plan.url) { inspector.watch($0) { meter.write($0) } }
        let upload = session.uploadResumable(
            URL(filePath: path), to: plan.url, protocol: choice.uploadProtocol, headers: plan.headers,
            options: uploadOptions)
        interruption.handle { upload.cancel() }
        let updates = Task {
            while !Task.isCancelled {
                meter?.update(upload.progress)
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        let result = await upload.result
        updates.cancel()
        switch result {
        case .success(let value):
            meter?.finish(bytes: upload.progress.completedUnitCount)
            interruption.reraise()
            try StandardOutput.write(
                value.data.isEmpty ? Data("\(value.url?.absoluteString ?? plan.url)\n".utf8) : value.data)
        case .failure(let error):
            meter?.abandon()
            interruption.reraise()
            throw failure(error)
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

    private func failure(_ error: ResumableUploadError) -> Failure {
        var failure: Failure =
            switch error {
            case .requestFailed(let cause): Failure(cause, url: plan.url)
            case .rejected, .tooLarge, .uploadGone: Failure(.httpStatus, error.localizedDescription)
            case .invalidOptions, .unreadableFile, .fileChanged, .invalidRecord, .recordInUse, .recordInaccessible:
                Failure(.usage, error.localizedDescription)
            case .noProgress, .tooManyInterruptions, .notResumable: Failure(.connection, error.localizedDescription)
            case .cancelled, .sourceFailed, .sourceCannotRewind: Failure(.other, error.localizedDescription)
            case .unsupportedVersion, .invalidOffset, .lengthMismatch, .invalidLocation, .otherOrigin,
                .insecureLocation:
                Failure(.response, error.localizedDescription)
            }
        if failure.status == .connection, FileManager.default.fileExists(atPath: recordPath) {
            failure.message += " Run the same command again to continue."
        }
        return failure
    }
}
