import Afar
import AfarParallelDownloads
import AfarTestServer
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Parallel downloads from servers that support ranges, and from servers that don't.
@Suite(.timeLimit(.minutes(2))) struct ParallelDownloadTests {
    private let session = Session()

    @Test func partsAreWrittenToTheirPlaces() async throws {
        let server = try await FileServer(.sample(9 * mebibyte + 123))
        let download = session.download(server.url, parallel: 4, to: server.file)
        #expect(try await download.value == server.file)
        #expect(try server.isComplete())
        #expect(server.names == ["file"])
        #expect(download.response?.statusCode == 206)
        #expect(server.requestCount > 4)
        #expect(server.server.connectionCount <= 4)
        #expect(download.downloadProgress.totalUnitCount == Int64(server.content.count))
        #expect(download.downloadProgress.completedUnitCount == Int64(server.content.count))
    }

    @Test func aSmallFileNeedsOneRequest() async throws {
        let server = try await FileServer(.sample(mebibyte))
        _ = try await session.download(server.url, parallel: 4, to: server.file).value
        #expect(try server.isComplete())
        #expect(server.requestCount == 1)
    }

    @Test func anEmptyFileIsRequestedWithoutARange() async throws {
        let server = try await FileServer(Data()) { _, request, answer in
            if request.headers["Range"] != nil { answer.status = 416 }
        }
        _ = try await session.download(server.url, parallel: 4, to: server.file).value
        #expect(try server.isComplete())
        #expect(server.requestCount == 2)
    }

    @Test func anExistingFileIsReplacedAndDirectoriesAreCreated() async throws {
        let server = try await FileServer(.sample(2 * mebibyte))
        let file = server.folder.appending(path: "a/b/file")
        for _ in 0..<2 { _ = try await session.download(server.url, parallel: 2, to: file).value }
        #expect(try Data(contentsOf: file) == server.content)
        var status = stat()
        #expect(lstat(file.path, &status) == 0 && status.st_mode & 0o777 != 0o600)
    }

    @Test(arguments: [1, 2, 7, 100])
    func anyNumberOfRequestsIsPossible(parallel: Int) async throws {
        let server = try await FileServer(.sample(5 * mebibyte))
        _ = try await session.download(server.url, parallel: parallel, to: server.file).value
        #expect(try server.isComplete())
        #expect(server.server.connectionCount <= 6)
        if parallel == 1 { #expect(server.requestCount == 2) }
    }

    @Test func theConnectionLimitOfTheSessionApplies() async throws {
        var configuration = SessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 2
        let server = try await FileServer(.sample(8 * mebibyte))
        let session = Session(configuration: configuration)
        _ = try await session.download(server.url, parallel: 8, to: server.file).value
        #expect(try server.isComplete())
        #expect(server.server.connectionCount <= 2)
    }

    @Test func partsRequestIdentityAndTheSameVersion() async throws {
        let requests = Requests()
        let server = try await FileServer(.sample(4 * mebibyte)) { _, request, _ in requests.append(request) }
        _ = try await session.download(server.url, parallel: 3, headers: ["X-Test": "1"], to: server.file).value
        let all = requests.all
        #expect(all.allSatisfy { $0.headers["Accept-Encoding"] == "identity" && $0.headers["X-Test"] == "1" })
        #expect(all[0].headers["Range"] == "bytes=0-1048575")
        #expect(all[0].headers["If-Range"] == nil)
        #expect(all.dropFirst().allSatisfy { $0.headers["If-Range"] == "\"v1\"" && $0.headers["Range"] != nil })
    }

    @Test func progressIsReportedOnceForAllParts() async throws {
        let server = try await FileServer(.sample(4 * mebibyte))
        let values = Values()
        let download = session.download(server.url, parallel: 4, to: server.file)
            .downloadProgress(queue: DispatchQueue(label: "test")) { values.append($0.completedUnitCount) }
        _ = try await download.value
        #expect(download.downloadProgress.fractionCompleted == 1)
        #expect(values.all.allSatisfy { $0 <= Int64(server.content.count) })
    }

    // MARK: Servers without usable ranges

    @Test func theWholeResponseOfAServerWithoutRangesIsUsed() async throws {
        let server = try await FileServer(.sample(4 * mebibyte)) { _, _, answer in answer.ignoreRange() }
        _ = try await session.download(server.url, parallel: 4, to: server.file).value
        #expect(try server.isComplete())
        #expect(server.requestCount == 1)
    }

    @Test(arguments: [nil, "W/\"v1\""])
    func withoutAStrongValidatorTheFileIsRequestedAtOnce(tag: String?) async throws {
        let server = try await FileServer(.sample(3 * mebibyte)) { _, _, answer in answer.headers["ETag"] = tag }
        _ = try await session.download(server.url, parallel: 4, to: server.file).value
        #expect(try server.isComplete())
        #expect(server.requestCount == 2)
        #expect(server.server.lastRequest(path: "/file")?.headers["Range"] == nil)
    }

    @Test func aModificationDateIsAValidatorIfItIsOldEnough() async throws {
        for (date, count) in [("Sat, 01 Jan 2022 00:00:00 GMT", 2), ("Fri, 01 Jan 2100 00:00:00 GMT", 1)] {
            let server = try await FileServer(.sample(3 * mebibyte)) { _, request, answer in
                answer.headers = ["Content-Range": answer.headers["Content-Range"] ?? nil, "Last-Modified": date]
            }
            _ = try await session.download(server.url, parallel: 4, to: server.file).value
            #expect(try server.isComplete())
            #expect((server.server.lastRequest(path: "/file")?.headers["If-Range"] == nil) == (count == 1))
        }
    }

    @Test func anUnknownLengthIsRequestedAtOnce() async throws {
        let server = try await FileServer(.sample(3 * mebibyte)) { _, _, answer in
            if let range = answer.headers["Content-Range"]??.split(separator: "/").first {
                answer.headers["Content-Range"] = "\(range)/*"
            }
        }
        _ = try await session.download(server.url, parallel: 4, to: server.file).value
        #expect(try server.isComplete())
    }

    // MARK: Requests

    @Test func requestsCanBePrepared() async throws {
        let server = try await FileServer(.sample(2 * mebibyte))
        let counter = Counter()
        let download = session.download(
            server.url, parallel: 2, prepare: { _ in _ = counter.next() }, to: server.file)
        _ = try await download.value
        #expect(counter.value == server.requestCount)
    }

    // MARK: Life cycle

    @Test func aHandlerStartsTheDownloadAndReceivesItsOutcome() async throws {
        let server = try await FileServer(.sample(2 * mebibyte))
        let results = AsyncStream.makeStream(of: Result<URL, any Error>.self)
        let download = session.download(server.url, parallel: 2, to: server.file)
            .response(queue: DispatchQueue(label: "test")) { results.continuation.yield($0) }
        for await result in results.stream {
            #expect(try result.get() == server.file)
            break
        }
        #expect(download.isFinished)
        // A handler that is added later is called, too.
        download.response(queue: DispatchQueue(label: "test")) { results.continuation.yield($0) }
        for await _ in results.stream { break }
        #expect(server.requestCount == 2)
    }

    @Test func nothingIsRequestedWhileTheDownloadIsSuspended() async throws {
        let server = try await FileServer(.sample(8 * mebibyte))
        let prepared = AsyncStream.makeStream(of: Void.self)
        let download = session.download(
            server.url, parallel: 4, prepare: { _ in prepared.continuation.yield() }, to: server.file)
        let result = Task { await download.suspend().result }
        for await _ in prepared.stream { break }
        #expect(download.isSuspended)
        #expect(server.requestCount == 0)
        download.resume()
        #expect(try await result.value.get() == server.file)
        #expect(try server.isComplete())
    }

    @Test func aSuspendedDownloadCanBeCanceled() async throws {
        let server = try await FileServer(.sample(8 * mebibyte))
        let prepared = AsyncStream.makeStream(of: Void.self)
        let download = session.download(
            server.url, parallel: 4, prepare: { _ in prepared.continuation.yield() }, to: server.file
        )
        .suspend()
        let result = Task { await download.result }
        for await _ in prepared.stream { break }
        download.cancel()
        #expect(await (result.value.error as? AFError)?.isExplicitlyCancelledError == true)
        #expect(download.isCancelled)
        #expect(server.names.isEmpty)
    }

    @Test func aDownloadThatWasCanceledBeforeItsStartRequestsNothing() async throws {
        let server = try await FileServer(.sample(8 * mebibyte))
        let download = session.download(server.url, parallel: 4, to: server.file).cancel()
        #expect(await (download.result.error as? AFError)?.isExplicitlyCancelledError == true)
        #expect(server.requestCount == 0)
        #expect(server.names.isEmpty)
    }

    /// The limit includes the delays before retries.
    @Test func theSessionsTimeoutLimitsTheWholeDownload() async throws {
        let server = try await FileServer(.sample(8 * mebibyte)) { number, _, answer in
            guard number > 0 else { return }
            (answer.status, answer.bytes) = (503, 0..<0)
            answer.headers["Retry-After"] = "30"
        }
        var configuration = SessionConfiguration.default
        configuration.timeoutIntervalForResource = 1
        let download = Session(configuration: configuration).download(server.url, parallel: 2, to: server.file)
        let error = await download.result.error as? AFError
        #expect((error?.underlyingError as? URLError)?.code == .timedOut)
        #expect(error?.localizedDescription.contains("timeoutIntervalForResource") == true)
        #expect(server.names.isEmpty)
    }

    // MARK: Digests

    @Test func digestsAreVerifiedBeforeTheFileIsMoved() async throws {
        let server = try await FileServer(.sample(3 * mebibyte))
        let copy = server.folder.appending(path: "copy")
        try server.content.write(to: copy)
        let digest = try FileDigest(.sha256, of: copy)
        try FileManager.default.removeItem(at: copy)
        _ = try await session.download(server.url, parallel: 2, to: server.file).verify(digest).value
        try FileManager.default.removeItem(at: server.file)
        let download = session.download(server.url, parallel: 2, to: server.file)
            .verify(.sha512(expected: Data(count: 64)))
        #expect(await download.result.error as? DigestError == .mismatch(.sha512))
        #expect(server.names.isEmpty)
    }

    @Test func theServersDigestDescribesTheWholeFile() async throws {
        let content = Data.sample(3 * mebibyte)
        let copy = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
        try content.write(to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        let digest = try FileDigest(.sha256, of: copy).bytes.base64EncodedString()
        let server = try await FileServer(content) { _, _, answer in
            answer.headers["Repr-Digest"] = "sha-256=:\(digest):"
            // The digest of the part.
            answer.headers["Content-Digest"] = "sha-256=:\(Data(count: 32).base64EncodedString()):"
        }
        _ = try await session.download(server.url, parallel: 2, to: server.file).verifyDigest().value
        #expect(server.server.lastRequest(path: "/file")?.headers["Want-Repr-Digest"] != nil)
        let silent = try await FileServer(content)
        let download = session.download(silent.url, parallel: 2, to: silent.file).verifyDigest()
        #expect(await download.result.error as? DigestError == .missing)
        _ = try await session.download(silent.url, parallel: 2, to: silent.file).verifyDigest(isRequired: false).value
        #expect(try silent.isComplete())
    }
}

extension FileServer.Answer {
    mutating func ignoreRange() {
        (status, headers["Content-Range"]) = (200, nil as String?)
        bytes = 0..<4 * mebibyte
    }
}

extension Result {
    var error: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}

/// The requests that a server has received.
final class Requests: @unchecked Sendable {
    // Sendable because the lock protects the requests.
    private let lock = NSLock()
    private var requests: [ServerRequest] = []

    func append(_ request: ServerRequest) { lock.withLock { requests.append(request) } }
    var all: [ServerRequest] { lock.withLock { requests } }
}

/// The values that a handler has received.
final class Values: @unchecked Sendable {
    // Sendable because the lock protects the values.
    private let lock = NSLock()
    private var values: [Int64] = []

    func append(_ value: Int64) { lock.withLock { values.append(value) } }
    var all: [Int64] { lock.withLock { values } }
}
