import Afar
import AfarParallelDownloads
import AfarTestServer
import Foundation
import Testing

/// Downloads that continue the partial file of an earlier one.
@Suite(.timeLimit(.minutes(2))) struct ResumedDownloadTests {
    private let session = Session()

    /// Downloads a file until a request is refused, and returns the resume data.
    private func interrupted(_ server: FileServer, parallel: Int = 3) async throws -> Data {
        let download = session.download(server.url, parallel: parallel, to: server.file).keepPartialFile()
        #expect((await download.result.error as? AFError)?.responseCode == 403)
        return try #require(download.resumeData)
    }

    private func server(version: String = "\"v1\"") async throws -> (FileServer, isBroken: Locked<Bool>) {
        let isBroken = Locked(true)
        let server = try await FileServer(.sample(8 * mebibyte)) { number, _, answer in
            let isBroken = isBroken.withLock { $0 }
            if !isBroken { answer.headers["ETag"] = version }
            if isBroken, number > 2 { (answer.status, answer.bytes) = (403, 0..<0) }
        }
        return (server, isBroken)
    }

    @Test(arguments: [1, 2, 4]) func onlyTheMissingBytesAreRequested(parallel: Int) async throws {
        let (server, isBroken) = try await server()
        let data = try await interrupted(server, parallel: 3)
        #expect(server.names.count == 1)
        #expect(!String(decoding: data, as: UTF8.self).contains("/file"))
        isBroken.withLock { $0 = false }
        let values = AsyncStream.makeStream(of: Int64.self)
        let download = session.download(server.url, parallel: parallel, to: server.file).resume(with: data)
            .downloadProgress(queue: DispatchQueue(label: "test")) { values.continuation.yield($0.completedUnitCount) }
        _ = try await download.value
        #expect(try server.isComplete())
        #expect(server.names == ["file"])
        #expect(download.response?.statusCode == 206)
        for await value in values.stream {
            #expect(value >= 3 * Int64(mebibyte))
            break
        }
        #expect(download.downloadProgress.completedUnitCount == 8 * Int64(mebibyte))
        var status = stat()
        #expect(lstat(server.file.path, &status) == 0 && status.st_mode & 0o777 != 0o600)
    }

    @Test func aCanceledDownloadCanBeContinued() async throws {
        let isBroken = Locked(true)
        let server = try await FileServer(.sample(8 * mebibyte)) { number, _, answer in
            guard number > 0, isBroken.withLock({ $0 }) else { return }
            (answer.status, answer.bytes) = (503, 0..<0)
            answer.headers["Retry-After"] = "30"
        }
        let values = AsyncStream.makeStream(of: Int64.self)
        let download = session.download(server.url, parallel: 2, to: server.file).keepPartialFile()
            .downloadProgress(queue: DispatchQueue(label: "test")) { values.continuation.yield($0.completedUnitCount) }
            .resume()
        for await value in values.stream where value == Int64(mebibyte) { break }
        download.cancel()
        #expect((await download.result.error as? AFError)?.isExplicitlyCancelledError == true)
        let data = try #require(download.resumeData)
        isBroken.withLock { $0 = false }
        _ = try await session.download(server.url, parallel: 1, to: server.file).resume(with: data).value
        #expect(try server.isComplete())
    }

    @Test func anotherVersionIsNotMixedIn() async throws {
        let (server, isBroken) = try await server(version: "\"v2\"")
        let data = try await interrupted(server)
        isBroken.withLock { $0 = false }
        let download = session.download(server.url, parallel: 2, to: server.file).resume(with: data).keepPartialFile()
        #expect(await download.result.error as? ParallelDownloadError == .changedOnServer)
        #expect(download.resumeData == nil)
        #expect(server.names.isEmpty)
    }

    @Test func unusableDataIsAnError() async throws {
        let (server, isBroken) = try await server()
        let data = try await interrupted(server)
        isBroken.withLock { $0 = false }
        let text = String(decoding: data, as: UTF8.self)
        let other = server.folder.appending(path: "other")
        try Data(count: 8 * mebibyte).write(to: other)
        chmod(other.path, 0o600)
        let name = try #require(server.names.first { $0.hasPrefix(".afar-") })
        for changed in [
            "", "{", "[", "{}", text.replacing("\"format\":1", with: "\"format\":2"),
            text.replacing("\"missing\":[[", with: "\"missing\":[[-5,7],["),
            text.replacing("\"missing\":[[", with: "\"missing\":[[9223372036854775806,9223372036854775807],["),
            text.replacing(name, with: "other"), text.replacing("\"length\":8388608", with: "\"length\":8388609"),
        ] {
            let error = await session.download(server.url, parallel: 2, to: server.file).resume(
                with: Data(changed.utf8)
            )
            .result.error
            #expect(error is ResumeDataError, "\(changed): \(String(describing: error))")
        }
        #expect(Set(server.names) == [name, "other"])
        #expect(try Data(contentsOf: other) == Data(count: 8 * mebibyte))
        _ = try await session.download(server.url, parallel: 2, to: server.file).resume(with: data).value
        #expect(try server.isComplete())
    }

    @Test func aFileIsUsedByOneDownloadAtATime() async throws {
        let (server, isBroken) = try await server()
        let data = try await interrupted(server)
        isBroken.withLock { $0 = false }
        let prepared = AsyncStream.makeStream(of: Void.self)
        let first = session.download(
            server.url, parallel: 2, prepare: { _ in prepared.continuation.yield() }, to: server.file
        )
        .resume(with: data)
        let result = Task { await first.suspend().result }
        for await _ in prepared.stream { break }
        let second = session.download(server.url, parallel: 2, to: server.file).resume(with: data)
        guard case .inUse = await second.result.error as? ResumeDataError else {
            Issue.record("not in use")
            return
        }
        first.resume()
        _ = try await result.value.get()
        #expect(try server.isComplete())
    }

    @Test func withoutAStrongValidatorNothingIsKept() async throws {
        let server = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
            answer.headers["ETag"] = nil as String?
            if number > 0 { (answer.status, answer.bytes) = (403, 0..<0) }
        }
        let download = session.download(server.url, parallel: 2, to: server.file).keepPartialFile()
        #expect(await download.result.error != nil)
        #expect(download.resumeData == nil)
        #expect(server.names.isEmpty)
    }
}
