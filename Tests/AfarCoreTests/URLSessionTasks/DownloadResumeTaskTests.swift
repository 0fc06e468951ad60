import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The task properties for resumed downloads.
struct DownloadResumeTaskTests {
    private let session = Session(startRequestsImmediately: false, transport: MockTransport { _ in .text("ok") })

    private func resumeData() throws -> Data {
        ResumeData(
            url: try "https://example.com/large".asURL(), headers: ["Accept": "a/b"], validator: .entityTag("\"tag\""),
            path: "/tmp/part", byteCount: 100, totalLength: 1000
        ).encoded()
    }

    @Test func aTaskHasTheRequestForTheRemainingBytes() throws {
        let download = session.download("http://mock/")
        let task = download.task(forResumeData: try resumeData(), using: .shared)
        #expect(task is URLSessionDownloadTask)
        let request = try #require(task.originalRequest)
        #expect(request.url?.absoluteString == "https://example.com/large")
        #expect(request.headers["Accept"] == "a/b")
        #expect(request.headers["Range"] == "bytes=100-")
        #expect(request.headers["If-Range"] == "\"tag\"")
    }

    @Test func aTaskControlsItsDownload() throws {
        let download = session.download("http://mock/")
        let task = download.task(forResumeData: try resumeData(), using: .shared)
        #expect(download.tasks.isEmpty)
        task.suspend()
        #expect(download.isSuspended)
        task.cancel()
        #expect(download.isCancelled)
    }

    @Test func invalidResumeDataReturnsATaskWithoutARequest() {
        let download = session.download("http://mock/")
        let task = download.task(forResumeData: Data("damaged".utf8), using: .shared)
        #expect(task is URLSessionDownloadTask)
        #expect(task.originalRequest == nil && task.currentRequest == nil)
        #expect(task.state == .completed)
        task.resume()
        #expect(download.isInitialized)
    }
}
