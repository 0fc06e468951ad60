import Afar
import AfarTestServer
import Foundation
import Testing

/// Downloads in all common forms.
@Suite struct DownloadTests {
    @Test func resumingADownload() async throws {
        let server = try await TestServer.start()
        let url = server.url("/range/100000?stalls=50000")
        let request = AF.download(url)
        let resumeData: Data? = await withCheckedContinuation { continuation in
            request.downloadProgress(queue: .global()) { progress in
                guard progress.completedUnitCount == 50_000 else { return }
                request.cancel { resumeData in continuation.resume(returning: resumeData) }
            }
            request.response { _ in }
        }
        let data = try #require(resumeData)
        #expect(request.isCancelled && request.error?.isExplicitlyCancelledError == true)
        let destination = DownloadRequest.suggestedDownloadDestination(
            for: .cachesDirectory, in: .userDomainMask, options: [.removePreviousFile, .createIntermediateDirectories])
        let response = await AF.download(resumingWith: data, to: destination)
            .validate()
            .serializingData()
            .response
        #expect(response.value == PatternBytes.bytes(100_000))
        #expect(response.fileURL?.lastPathComponent == "100000")
        if let url = response.fileURL { try FileManager.default.removeItem(at: url) }
        await server.stop()
    }

    @Test func aDownloadThatBreaksOff() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let broken: AFDownloadResponse<Data> = await withCheckedContinuation { continuation in
            session.download(server.url("/range/1000?cuts=400")).responseData(queue: .global()) { response in
                continuation.resume(returning: response)
            }
        }
        guard case .failure(let error) = broken.result, let resumeData = error.downloadResumeData else {
            Issue.record("nothing to resume")
            return
        }
        #expect(broken.resumeData == resumeData)
        let resumed = session.download(
            resumingWith: resumeData, interceptor: TokenInterceptor(), shouldAutomaticallyResume: false)
        switch resumed.downloadable {
        case .request: Issue.record("not resumed")
        case .resumeData(let data): #expect(data == resumeData)
        }
        resumed.resume()
        let text = try await resumed.serializingString().value
        #expect(text.count == 1000)
        if let url = resumed.fileURL { try FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let cancelled = AF.download(resumingWith: Data("none".utf8))
        cancelled.cancel(producingResumeData: true)
        #expect(await cancelled.serializingDownloadedFileURL().response.error != nil)
        await server.stop()
    }

    @Test func allFormsOfHandlers() async throws {
        let server = try await TestServer.start()
        let json = server.url("/json")
        let file = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<URL, any Error>) in
            AF.download(json)
                .responseData { _ in }
                .responseString(queue: .global(), encoding: .utf8) { #expect($0.value?.contains("Ada") == true) }
                .responseDecodable(of: Named.self, queue: .global()) { #expect($0.value?.name == "Ada") }
                .responseJSON(queue: .global()) { #expect($0.value is [String: Any]) }
                .response(queue: .global(), responseSerializer: .data) { #expect($0.error == nil) }
                .response(queue: .global(), responseSerializer: DecodableResponseSerializer<Named>()) { response in
                    #expect(response.value?.name == "Ada")
                }
                .responseURL(queue: .global()) { continuation.resume(with: $0.result.mapError { $0 as any Error }) }
        }
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        let task = AF.download(json).serializingDecodable(Named.self, decoder: JSONDecoder())
        let response = await task.response
        #expect(try await task.value.name == "Ada")
        if let url = response.fileURL { try FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let made = DownloadResponse<String, AFError>(
            request: nil, response: nil, fileURL: nil, resumeData: Data([1]), metrics: nil, serializationDuration: 0,
            result: .success("made"))
        #expect(made.map(\.count).value == 4 && made.resumeData == Data([1]))
        await server.stop()
    }

    private struct Named: Decodable, Sendable { let name: String }
}
