import Afar
import AfarResumableUploads
import AfarTransport
import Foundation
import TestServers
import Testing

/// The server of PyPI's resumable-upload, if it is installed.
private let serverProgram = ProcessInfo.processInfo.environment["AFAR_TUS_SERVER"]

/// Uploads to the server of PyPI's resumable-upload. `make resumable-uploads` installs it and sets the variable.
@Suite(.timeLimit(.minutes(2)), .enabled(if: serverProgram != nil))
struct ServerInteroperabilityTests {
    private static func server() async throws -> (ServerChild, URL) {
        let program = serverProgram ?? ""
        let server = try await ServerChild("tus") { folder, port in
            [
                program, "serve", "--host", "127.0.0.1", "--port", String(port), "--upload-dir",
                "\(folder.path)/uploads",
                "--db-path", "\(folder.path)/uploads.db", "--enable-downloads", "--upload-expiry", "3600",
            ]
        }
        return (server, try #require(URL(string: "http://127.0.0.1:\(server.port)/files")))
    }

    private static func download(_ url: URL?) async throws -> Data {
        let session = Session()
        defer { withExtendedLifetime(session) {} }
        return try await session.request(try #require(url)).validate().serializingData().value
    }

    @Test func aFileWithChecksumsAndMetadataArrives() async throws {
        let (server, url) = try await Self.server()
        let folder = try TestFolder()
        let (file, data) = try folder.file(3_000_000)
        var options = ResumableUploadOptions(record: folder.record)
        options.chunkSize = 1_000_000
        options.sendsChecksums = true
        options.metadata = ["filename": "größe.bin"]
        let upload = Session().uploadResumable(file, to: url, protocol: .tus, options: options)
        let value = try await upload.value
        #expect(try await Self.download(value.url) == data)
        let expiration = try #require(upload.expirationDate)
        #expect(abs(expiration.timeIntervalSinceNow - 3_600) < 60)
        withExtendedLifetime(server) {}
    }

    @Test func anEmptyFileArrives() async throws {
        let (server, url) = try await Self.server()
        let folder = try TestFolder()
        let (file, _) = try folder.file(0)
        let value = try await Session().uploadResumable(file, to: url, protocol: .tus).value
        #expect(value.response.statusCode == 201)
        withExtendedLifetime(server) {}
    }

    @Test func parallelPartsAreJoined() async throws {
        let (server, url) = try await Self.server()
        let folder = try TestFolder()
        let (file, data) = try folder.file(3_000_001)
        var options = ResumableUploadOptions()
        options.parallelParts = 4
        options.chunkSize = 300_000
        let value = try await Session().uploadResumable(file, to: url, protocol: .tus, options: options).value
        #expect(try await Self.download(value.url) == data)
        withExtendedLifetime(server) {}
    }

    @Test func aStoppedUploadResumes() async throws {
        let (server, url) = try await Self.server()
        let folder = try TestFolder()
        let (file, data) = try folder.file(3_000_000)
        var options = ResumableUploadOptions(record: folder.record)
        options.chunkSize = 500_000
        let count = Locked(0)
        let stopping = Adapter { request, _, completion in
            let isStopped =
                request.httpMethod == "PATCH"
                && count.withLock {
                    $0 += 1; return $0 > 3
                }
            completion(isStopped ? .failure(URLError(.cannotOpenFile)) : .success(request))
        }
        let error = await Session().uploadResumable(
            file, to: url, protocol: .tus, interceptor: Interceptor(adapters: [stopping]), options: options
        ).result.requestError
        #expect(error != nil)
        let requests = Locked<[String]>([])
        let recording = Adapter { request, _, completion in
            requests.withLock {
                $0.append("\(request.httpMethod ?? "") \(request.value(forHTTPHeaderField: "Upload-Offset") ?? "-")")
            }
            completion(.success(request))
        }
        let value = try await Session().uploadResumable(
            file, to: url, protocol: .tus, interceptor: Interceptor(adapters: [recording]), options: options
        ).value
        #expect(try await Self.download(value.url) == data)
        #expect(requests.withLock { $0 } == ["HEAD -", "PATCH 1500000", "PATCH 2000000", "PATCH 2500000"])
        withExtendedLifetime(server) {}
    }

    @Test func cancelingDeletesTheUpload() async throws {
        let (server, url) = try await Self.server()
        let folder = try TestFolder()
        let (file, _) = try folder.file(3_000_000)
        var options = ResumableUploadOptions()
        options.chunkSize = 500_000
        let reached = AsyncStream<URL?>.makeStream()
        let holding = Adapter { request, _, completion in
            guard request.httpMethod == "PATCH", request.value(forHTTPHeaderField: "Upload-Offset") == "1000000" else {
                return completion(.success(request))
            }
            // The upload is canceled while this adapter hasn't answered.
            reached.continuation.yield(request.url)
        }
        let upload = Session().uploadResumable(
            file, to: url, protocol: .tus, interceptor: Interceptor(adapters: [holding]), options: options
        ).resume()
        var location: URL?
        for await url in reached.stream {
            location = url
            break
        }
        upload.cancel(deletingPartialUpload: true)
        #expect(await upload.result.requestError?.isExplicitlyCancelledError == true)
        let session = Session()
        let response = await session.request(
            try #require(location), method: .head, headers: ["Tus-Resumable": "1.0.0"]
        ).serializingData(emptyResponseCodes: [404]).response
        #expect(response.response?.statusCode == 404)
        withExtendedLifetime(server) {}
    }
}
