import Afar
import AfarResumableUploads
import Foundation

/// The samples of Docs/Resumable-Uploads.md.
enum ResumableUploadSamples {
    static func first(_ file: URL, _ token: String) async throws {
        let upload = AF.uploadResumable(
            file, to: "https://uploads.example.com/files", protocol: .tus,
            headers: [.authorization(bearerToken: token)])
        let value = try await upload.value
        print("stored at \(value.url?.absoluteString ?? "the server"), status \(value.response.statusCode)")
    }

    static func controlled(_ file: URL) {
        let upload = AF.uploadResumable(file, to: "https://uploads.example.com/files", protocol: .tus)
            .uploadProgress { print("\(Int($0.fractionCompleted * 100)) %") }
            .response { result in print(result) }
        upload.suspend()
        upload.resume()
    }

    static func continued(_ file: URL) -> ResumableUpload {
        let upload = AF.uploadResumable(file, continuing: "https://uploads.example.com/files/17", protocol: .tus)
        return upload
    }

    static func created(_ file: URL) -> ResumableUpload {
        var options = ResumableUploadOptions()
        options.createsBeforeSending = true
        let upload = AF.uploadResumable(
            file, to: "https://uploads.example.com/files", protocol: .draft(.v6), options: options)
        return upload
    }

    static func parallel(_ file: URL) -> ResumableUpload {
        var options = ResumableUploadOptions()
        options.metadata = ["filename": file.lastPathComponent]
        options.parallelParts = 4
        let upload = AF.uploadResumable(file, to: "https://uploads.example.com/files", protocol: .tus, options: options)
        return upload
    }

    static func errors(_ upload: ResumableUpload) async {
        do {
            _ = try await upload.value
        } catch ResumableUploadError.rejected(_, let status, _) {
            print("the server refused the upload with status \(status)")
        } catch let error as AFError where error.isExplicitlyCancelledError {
            print("canceled")
        } catch {
            print(error.localizedDescription)
        }
    }

    static func record(_ file: URL, _ record: URL) async throws {
        let upload = AF.uploadResumable(
            file, to: "https://uploads.example.com/files", protocol: .tus,
            options: ResumableUploadOptions(record: record))
        print(try await upload.value.url ?? "complete")
    }

    static func sequence(_ chunks: AsyncStream<Data>) async throws {
        let upload = AF.uploadResumable(chunks, to: "https://uploads.example.com/files", protocol: .tus)
        print(try await upload.value.url ?? "complete")
    }
}
