import Afar
import Foundation

/// Uploads and downloads files for an app.
final class LibraryClient: Sendable {
    let session: Session
    let base: String
    let folder: URL

    init(base: String, session: Session = AF) throws {
        self.base = base
        self.session = session
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func sendProfile(
        name: String, tags: [String], photo: Data?, parameters: [String: String],
        progress: @escaping @Sendable (Double) -> Void,
        completion: @escaping @Sendable (Result<String, AFError>) -> Void
    ) {
        let headers: HTTPHeaders = ["Content-type": "multipart/form-data", "Accept": "application/json"]
        AF.upload(
            multipartFormData: { multipartFormData in
                for (key, value) in parameters.sorted(by: { $0.key < $1.key }) {
                    multipartFormData.append(value.data(using: .utf8) ?? Data(), withName: key)
                }
                for tag in tags {
                    multipartFormData.append(Data(tag.utf8), withName: "tags[]")
                }
                multipartFormData.append(Data(name.utf8), withName: "name", mimeType: "text/plain")
                if let photo {
                    multipartFormData.append(photo, withName: "photo", fileName: "photo.png", mimeType: "image/png")
                }
            }, to: base + "/anything", method: .put, headers: headers
        )
        .uploadProgress(queue: .main) { progress($0.fractionCompleted) }
        .validate()
        .responseString { completion($0.result) }
    }

    func sendFiles(_ urls: [URL], note: InputStream, length: UInt64) async throws -> Echo {
        let form = MultipartFormData(fileManager: FileManager.default, boundary: "limit")
        for url in urls {
            form.append(url, withName: "file")
            form.append(url, withName: "named", fileName: "own name.bin", mimeType: "application/x-own")
        }
        form.append(note, withLength: length, name: "note", fileName: "note.txt", mimeType: "text/plain")
        form.append(
            InputStream(data: Data("raw".utf8)), withLength: 3,
            headers: ["Content-Disposition": "form-data; name=\"raw\""])
        return try await session.upload(
            multipartFormData: form, with: URLRequest(url: base + "/anything", method: .post), usingThreshold: 10
        ).serializingDecodable(Echo.self).value
    }

    func send(_ data: Data, headers: HTTPHeaders) async -> AFDataResponse<String> {
        await session.upload(data, to: "\(base)/upload", method: .put, headers: headers) { $0.timeoutInterval = 20 }
            .serializingString().response
    }

    func send(_ file: URL) async -> AFDataResponse<String> {
        await session.upload(file, to: "\(base)/upload").validate().serializingString().response
    }

    func send(_ stream: InputStream) async -> AFDataResponse<String> {
        await session.upload(stream, to: "\(base)/upload").serializingString().response
    }

    @discardableResult
    func fetch(
        _ path: String, named name: String? = nil, options: DownloadRequest.Options = [],
        completion: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> DownloadRequest {
        let folder = folder
        let destination: DownloadRequest.Destination = { temporaryURL, response in
            (folder.appendingPathComponent(name ?? response.suggestedFilename ?? "file"), options)
        }
        return session.download(base + path, to: destination).validate()
            .responseURL { completion($0) }
    }

    func fetchInto(_ directory: FileManager.SearchPathDirectory, _ path: String) -> DownloadRequest {
        session.download(base + path, to: DownloadRequest.suggestedDownloadDestination(for: directory))
    }

    func fetchData(_ path: String) async -> AFDownloadResponse<Data> {
        await session.download(base + path).serializingData().response
    }

    func resume(_ data: Data) async -> AFDownloadResponse<Data> {
        await session.download(resumingWith: data) { [folder] _, _ in
            (folder.appendingPathComponent("resumed"), [.removePreviousFile, .createIntermediateDirectories])
        }.serializingData().response
    }
}
