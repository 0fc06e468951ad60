import Alamofire
import Testing

/// Downloads a file, and resumes if the connection breaks.
struct ResumingDownload: Sendable {
    let url: URL
    let destination: DownloadRequest.Destination

    func run() async throws -> URL {
        let first = await AF.download(url, to: destination).validate().serializingDownloadedFileURL().response
        switch first.result {
        case .success(let file): return file
        case .failure(let error):
            guard let resumeData = error.downloadResumeData ?? first.resumeData else { throw error }
            return try await AF.download(resumingWith: resumeData, to: destination).validate()
                .serializingDownloadedFileURL().value
        }
    }
}

@Suite struct ResumingDownloadTests {
    @Test func aBrokenDownloadIsResumed() async throws {
        try await withServer { server in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("resuming-\(UUID().uuidString)")
            let download = ResumingDownload(url: server.url("/range/1000?cuts=400")) { _, _ in
                (file, .removePreviousFile)
            }
            #expect(try await download.run() == file)
            #expect(try Data(contentsOf: file).count == 1000)
            #expect(server.requestCount(path: "/range/1000") == 2)
            try FileManager.default.removeItem(at: file)
        }
    }
}
