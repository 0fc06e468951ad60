import Afar

enum TransferSamples {
    static func download(folder: URL) async throws {
        let destination: DownloadRequest.Destination = { temporaryURL, response in
            let name = response.url?.lastPathComponent ?? "download"
            return (folder.appending(path: name), [.createIntermediateDirectories, .removePreviousFile])
        }

        let map = try await AF.download("https://maps.example.com/europe.zip", to: destination)
            .validate()
            .downloadProgress { print("\(Int($0.fractionCompleted * 100)) %") }
            .serializingDownloadedFileURL()
            .value
        print("The map is at \(map.path)")
    }

    static func download(map: URL, into folder: URL) async throws {
        let file = folder.appending(path: "europe.zip")
        _ = try await AF.download(map, to: file).validate().serializingDownloadedFileURL().value
    }

    static func upload(video: URL) async throws {
        let receipt = try await AF.upload(video, to: "https://api.example.com/videos")
            .validate()
            .uploadProgress { print("\($0.completedUnitCount) of \($0.totalUnitCount) bytes") }
            .serializingString()
            .value
        print(receipt)
    }
}
