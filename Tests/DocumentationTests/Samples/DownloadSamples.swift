import Afar
import AfarParallelDownloads

enum DownloadSamples {
    static func suggested(map: URL) async throws {
        let destination = DownloadRequest.suggestedDownloadDestination(
            for: .cachesDirectory, options: [.createIntermediateDirectories, .removePreviousFile])
        let file = try await AF.download(map, to: destination).validate().serializingDownloadedFileURL().value
        print("Saved as \(file.lastPathComponent)")
        try FileManager.default.removeItem(at: file)
    }

    static func intoMemory(map: URL) async throws {
        let response = await AF.download(map).validate().serializingData().response
        if let file = response.fileURL { try FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        print("\(response.value?.count ?? 0) bytes read from the file")
    }

    static func interrupted(map: URL, bookmark: URL, destination: @escaping DownloadRequest.Destination) async throws {
        let response = await AF.download(map, to: destination).validate().serializingDownloadedFileURL().response
        if let resumeData = response.resumeData { try resumeData.write(to: bookmark) }
    }

    static func resuming(bookmark: URL, destination: @escaping DownloadRequest.Destination) async throws {
        let data = try Data(contentsOf: bookmark)
        let file = try await AF.download(resumingWith: data, to: destination)
            .validate()
            .serializingDownloadedFileURL()
            .value
        print("Complete at \(file.lastPathComponent)")
    }

    static func relocated(
        bookmark: URL, newURL: URL, destination: @escaping DownloadRequest.Destination
    ) async throws {
        let data = try Data(contentsOf: bookmark)
        let file = try await AF.download(resumingWith: data, from: newURL, to: destination)
            .validate()
            .serializingDownloadedFileURL()
            .value
        print("Complete at \(file.lastPathComponent)")
    }

    static func verified(map: URL, published: String, destination: @escaping DownloadRequest.Destination) async throws {
        guard let digest = FileDigest(hexadecimal: published) else { throw DigestError.malformed }
        let file = try await AF.download(map, to: destination)
            .validate()
            .verify(digest)
            .serializingDownloadedFileURL()
            .value
        print("Verified \(file.lastPathComponent)")
    }

    static func verifiedByTheServer(map: URL, destination: @escaping DownloadRequest.Destination) async throws {
        let file = try await AF.download(map, to: destination)
            .validate()
            .verifyDigest()
            .serializingDownloadedFileURL()
            .value
        print("Verified \(file.lastPathComponent)")
    }

    static func parallel(map: URL, file: URL) async throws {
        let download = AF.download(map, parallel: 4, to: file)
            .downloadProgress { print("\(Int($0.fractionCompleted * 100)) %") }
        let map = try await download.value
        print("Complete at \(map.lastPathComponent)")
    }

    static func continued(map: URL, file: URL) async throws {
        let download = AF.download(map, parallel: 4, to: file).keepPartialFile()
        if case .failure = await download.result, let data = download.resumeData {
            // Later, or in another process
            _ = try await AF.download(map, parallel: 4, to: file).resume(with: data).value
        }
    }

    static func manyConnections(map: URL, file: URL) async throws {
        var configuration = SessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 16
        let session = Session(configuration: configuration)
        let complete = try await session.download(map, parallel: 16, to: file).value
        print("Complete at \(complete.lastPathComponent)")
    }

    static func plugin(map: URL, destination: URL) async throws {
        let file = try await AF.download(map, parallel: 4, to: destination).value
        print("Complete at \(file.lastPathComponent)")
    }

    static func parallelFailures(map: URL, file: URL) async throws {
        do {
            _ = try await AF.download(map, parallel: 4, to: file).value
        } catch ParallelDownloadError.changedOnServer {
            print("The file has changed in the meantime")
        } catch let error as AFError {
            print("A request failed: \(error)")
        }
    }

    static func cancelling(map: URL) async -> AFDownloadResponse<URL> {
        let request = AF.download(map)
        let file = request.serializingDownloadedFileURL()
        for await progress in request.downloadProgress() where progress.completedUnitCount >= 50_000 { break }

        request.cancel(producingResumeData: true)

        let response = await file.response
        print("Cancelled, can be resumed: \(response.resumeData != nil)")
        return response
    }

    static func cancellingWithAHandler(_ request: DownloadRequest) {
        request.cancel(byProducingResumeData: { data in
            print(data == nil ? "Nothing to resume" : "Can be resumed")
        })
    }

    static func failures(
        map: URL, destination: @escaping DownloadRequest.Destination
    ) async -> AFDownloadResponse<URL> {
        let response = await AF.download(map, to: destination).validate().serializingDownloadedFileURL().response
        switch response.result {
        case .success(let file):
            print(file.path)
        case .failure(.downloadedFileMoveFailed(let error, let source, _)):
            print("Complete, but still at \(source.lastPathComponent): \(error.localizedDescription)")
        case .failure(let error) where error.downloadResumeData != nil:
            print("Interrupted, can be resumed")
        case .failure(let error):
            print(error)
        }
        return response
    }
}
