import Alamofire
import Testing

/// Downloads a film to a folder, and keeps the data to resume it.
final class FilmDownloader: @unchecked Sendable {
    private let lock = NSLock()
    private var resumeData: Data?
    private let destination: DownloadRequest.DownloadFileDestination

    init(file: URL) {
        destination = { _, _ in (file, [.removePreviousFile, .createIntermediateDirectories]) }
    }

    func fetch(_ url: URL, completion: @escaping @Sendable (URL?) -> Void) {
        let request: DownloadRequest
        if let data = lock.withLock({ resumeData }) {
            request = Alamofire.download(resumingWith: data, to: destination)
        } else {
            request = Alamofire.download(url, to: destination)
        }
        request.downloadProgress { print("film:", $0.fractionCompleted) }
            .response { response in
                self.lock.withLock { self.resumeData = response.resumeData }
                completion(response.error == nil ? response.destinationURL : nil)
            }
    }
}

@Suite struct FilmDownloaderTests {
    @Test func aFilmIsFetchedInTwoParts() async throws {
        try await withServer { server in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("film-\(UUID().uuidString)")
            let file = folder.appendingPathComponent("film")
            let downloader = FilmDownloader(file: file)
            let url = server.url("/range/2000?cuts=500")
            let broken = await withCheckedContinuation { done in downloader.fetch(url) { done.resume(returning: $0) } }
            #expect(broken == nil)
            let whole = await withCheckedContinuation { done in downloader.fetch(url) { done.resume(returning: $0) } }
            #expect(whole == file)
            #expect(try Data(contentsOf: file).count == 2000)
            try FileManager.default.removeItem(at: folder)
        }
    }
}
