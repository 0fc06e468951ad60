import Afar
import AfarParallelDownloads
import Foundation

extension DownloadRunner {
    /// Downloads a file with several requests, and returns its path.
    func downloadInParts(
        _ count: Int, to target: DownloadTarget, in directory: TemporaryDownloadDirectory, _ inspector: Inspector,
        _ interruption: Interruption
    ) async -> Result<String, Failure> {
        let meter = options.progress.makeMeter(options.colors, options.messages)
        let first = Locked<DataStreamRequest?>(nil)
        do {
            let session = try options.makeSession(for: plan, connections: count) { base in
                DestinationCheckTransport(base: inspector.watch(base) { meter.write($0) }, target: target) { _ in }
            }
            let download = session.download(
                plan.url, parallel: count, headers: plan.headers,
                prepare: { request in first.withLock { $0 = $0 ?? request } },
                to: directory.url.appending(path: "whole")
            )
            .downloadProgress(queue: DispatchQueue(label: "afar.progress")) { meter?.update($0) }
            interruption.handle { download.cancel() }
            let result = await download.result
            let request = first.withLock { $0 }
            guard case .success(let file) = result else {
                meter?.abandon()
                if let request { await inspector.showSummary(of: request) }
                if case .failure(let error) = result { throw error }
                throw AFError.explicitlyCancelled
            }
            meter?.finish(bytes: download.downloadProgress.completedUnitCount)
            if let request { await inspector.showSummary(of: request) }
            let path = target.path(contentDisposition: download.response?.headers["Content-Disposition"])
            try move(file, to: path, target)
            return .success(path)
        } catch {
            return .failure(failure(error))
        }
    }

    private func move(_ file: URL, to path: String, _ target: DownloadTarget) throws {
        try target.checkOverwrite(of: path)
        // Unlike `rename`, `link` never replaces a file that was created in the meantime.
        let replaces = target.options.contains(.removePreviousFile)
        guard (replaces ? rename(file.path, path) : link(file.path, path)) == 0 else {
            let reason = Failure.systemReason
            throw Failure(.other, "The file cannot be saved as \(path): \(reason).")
        }
    }

    private func failure(_ error: any Error) -> Failure {
        switch error {
        case let failure as Failure: return failure
        case let error as AFError:
            guard let code = error.responseCode else { return Failure(error, url: plan.url) }
            return statusFailure(code)
        case ParallelDownloadError.cannotWrite: return Failure(.other, error.localizedDescription)
        default: return Failure(.response, error.localizedDescription)
        }
    }
}
