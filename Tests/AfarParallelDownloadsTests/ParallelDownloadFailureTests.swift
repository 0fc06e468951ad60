import Afar
import AfarParallelDownloads
import AfarTestServer
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Lost connections, changed files, wrong responses and cancellation. After a failure, no file remains.
@Suite(.timeLimit(.minutes(2))) struct ParallelDownloadFailureTests {
    private let session = Session()

    // MARK: Lost connections

    /// The size in MiB and the number of cuts can be raised for a longer test.
    @Test func lostConnectionsAreResumed() async throws {
        let environment = ProcessInfo.processInfo.environment
        let size = (environment["AFAR_DOWNLOAD_MIB"].flatMap { Int($0) } ?? 32) * mebibyte
        let cutCount = environment["AFAR_DOWNLOAD_CUTS"].flatMap { Int($0) } ?? 5
        let seed = UInt64.random(in: 0..<1 << 62)
        var random = SeededGenerator(seed: seed)
        let cuts = (0..<cutCount).map { _ in Int.random(in: mebibyte..<size, using: &random) }
        let server = try await TestServer.start()
        let folder = FileManager.default.temporaryDirectory.appending(path: "afar-parallel-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file")
        let list = cuts.map { "\($0)" }.joined(separator: ",")
        let download = session.download(
            server.url("/range/\(size)?seed=7&cuts=\(list)"), parallel: 4, to: file)
        _ = try await download.value
        let handle = try FileHandle(forReadingFrom: file)
        var expected = PseudoRandomBytes(seed: 7)
        for start in stride(from: 0, to: size, by: mebibyte) {
            let count = min(mebibyte, size - start)
            let isEqual = try handle.read(upToCount: count) == expected.next(count)
            #expect(isEqual, "at \(start), seed \(seed)")
            guard isEqual else { return }
        }
        #expect(try handle.read(upToCount: 1)?.isEmpty != false)
        await server.stop()
    }

    @Test func onlyTheMissingBytesAreRequestedAgainAfterDelaysOfTheTimeSource() async throws {
        let clock = ManualClock()
        var configuration = SessionConfiguration.default
        configuration.timeSource = clock.timeSource
        let ranges = Requests()
        let server = try await FileServer(.sample(2 * mebibyte)) { number, request, answer in
            ranges.append(request)
            if number == 1 { answer.cut = 300_000 }
        }
        let session = Session(configuration: configuration)
        let download = session.download(server.url, parallel: 1, to: server.file).resume()
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(499))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        _ = try await download.value
        #expect(try server.isComplete())
        #expect(
            ranges.all.compactMap { $0.headers["Range"] } == [
                "bytes=0-1048575", "bytes=1048576-2097151", "bytes=1348576-2097151",
            ])
    }

    @Test func retriesAreLimited() async throws {
        let clock = ManualClock()
        var configuration = SessionConfiguration.default
        configuration.timeSource = clock.timeSource
        let server = try await FileServer(.sample(2 * mebibyte)) { number, _, answer in
            if number > 0 { answer.cut = 1_000 }
        }
        let session = Session(configuration: configuration)
        let download = session.download(server.url, parallel: 1, to: server.file).resume()
        for delay in [0.5, 1, 2, 4, 8] {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(delay))
        }
        let error = try #require(await download.result.error as? AFError)
        #expect(error.isSessionTaskError)
        #expect(server.requestCount == 7)
        #expect(server.names.isEmpty)
    }

    @Test func aStreamIsResumedIfItsServerSupportsRangesAfterAll() async throws {
        let server = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
            if number == 0 {
                answer.ignoreRange()
                answer.cut = mebibyte
            }
        }
        _ = try await session.download(server.url, parallel: 4, to: server.file).value
        #expect(try server.isComplete())
        #expect(server.server.lastRequest(path: "/file")?.headers["Range"] == "bytes=1048576-")
    }

    @Test func aStreamWithoutRangesStartsAgain() async throws {
        let server = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
            answer.ignoreRange()
            if number == 0 { answer.cut = mebibyte }
        }
        let download = session.download(server.url, parallel: 4, to: server.file)
        _ = try await download.value
        #expect(try server.isComplete())
        #expect(download.downloadProgress.completedUnitCount == Int64(4 * mebibyte))
    }

    @Test func otherRequestsLoadTheRestIfTheServerLimitsConnections() async throws {
        let counter = Counter()
        let server = try await FileServer(.sample(8 * mebibyte)) { number, request, answer in
            // The first connection's requests succeed, and two of the others don't.
            if number > 0, counter.next() < 2 { (answer.status, answer.bytes) = (403, 0..<0) }
        }
        _ = try await session.download(server.url, parallel: 4, to: server.file).value
        #expect(try server.isComplete())
    }

    // MARK: Wrong responses

    @Test func aChangedFileIsAnError() async throws {
        for change in ["tag", "length", "whole"] {
            let server = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
                guard number > 0 else { return }
                switch change {
                case "tag": answer.headers["ETag"] = "\"v2\""
                case "length":
                    let range = answer.headers["Content-Range"]??.split(separator: "/").first ?? ""
                    answer.headers["Content-Range"] = "\(range)/\(5 * mebibyte)"
                default: answer.ignoreRange()
                }
            }
            let error = await session.download(server.url, parallel: 4, to: server.file).result.error
            #expect(error as? ParallelDownloadError == .changedOnServer, "\(change)")
            #expect(server.names.isEmpty)
        }
    }

    @Test func aWrongRangeIsAnError() async throws {
        for range in ["bytes 0-1048575/4194304", "bytes 1048576-1048577/4194304", "bytes 1-2", nil] {
            let server = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
                if number > 0 { answer.headers["Content-Range"] = range }
            }
            let error = await session.download(server.url, parallel: 1, to: server.file).result.error
            #expect(
                error as? ParallelDownloadError
                    == .wrongRange(requested: "bytes 1048576-4194303", received: range))
            #expect(server.names.isEmpty)
        }
    }

    @Test func aWrongLengthIsAnError() async throws {
        let server = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
            if number > 0 { answer.bytes = answer.bytes.dropLast(10) }
        }
        let error = await session.download(server.url, parallel: 1, to: server.file).result.error
        let rest = Int64(3 * mebibyte)
        #expect(error as? ParallelDownloadError == .wrongLength(expected: rest, received: rest - 10))
        #expect(server.names.isEmpty)
    }

    @Test func aShorterRangeIsContinued() async throws {
        let server = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
            guard number == 1 else { return }
            answer.bytes = answer.bytes.prefix(100_000)
            answer.headers["Content-Range"] = "bytes 1048576-1148575/4194304"
        }
        _ = try await session.download(server.url, parallel: 1, to: server.file).value
        #expect(try server.isComplete())
        #expect(server.requestCount == 3)
    }

    @Test func aContentCodingIsAnError() async throws {
        let server = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
            if number > 0 { answer.headers["Content-Encoding"] = "br" }
        }
        let error = await session.download(server.url, parallel: 2, to: server.file).result.error
        #expect(error as? ParallelDownloadError == .contentCoding("br"))
    }

    @Test func anErrorStatusFailsTheDownload() async throws {
        let server = try await FileServer(.sample(10)) { _, _, answer in answer.status = 404 }
        let error = await session.download(server.url, parallel: 2, to: server.file).result.error
        #expect((error as? AFError)?.responseCode == 404)
        #expect(server.names.isEmpty)
    }

    @Test func theFileIsRemovedEvenIfItsRequestsAreRetained() async throws {
        let server = try await FileServer(.sample(4 * mebibyte)) { number, _, answer in
            if number > 1 { answer.headers["ETag"] = "\"v2\"" }
        }
        let requests = AsyncStream.makeStream(of: DataStreamRequest.self)
        let download = session.download(
            server.url, parallel: 2, prepare: { requests.continuation.yield($0) }, to: server.file)
        #expect(await download.result.error as? ParallelDownloadError == .changedOnServer)
        #expect(server.names.isEmpty)
        withExtendedLifetime(requests) {}
    }

    @Test func aSmallFileWithoutValidatorStartsAgain() async throws {
        let server = try await FileServer(.sample(500_000)) { number, _, answer in
            answer.headers["ETag"] = nil as String?
            if number == 0 { answer.cut = 200_000 }
        }
        let download = session.download(server.url, parallel: 4, to: server.file)
        _ = try await download.value
        #expect(try server.isComplete())
        #expect(download.downloadProgress.completedUnitCount == 500_000)
        #expect(server.server.lastRequest(path: "/file")?.headers["Range"] == "bytes=0-1048575")
    }

    // MARK: Requests and files

    @Test func otherRequestsThanPlainGETAreRefused() async throws {
        let server = try await FileServer(.sample(10))
        var post = URLRequest(url: server.url)
        post.httpMethod = "POST"
        var range = URLRequest(url: server.url)
        range.setValue("bytes=0-1", forHTTPHeaderField: "Range")
        for request in [post, range] {
            let error = await session.download(request, parallel: 2, to: server.file).result.error
            #expect(error as? ParallelDownloadError == .unsupportedRequest)
        }
        #expect(server.requestCount == 0)
    }

    @Test func anUnusableDestinationIsAnError() async throws {
        let server = try await FileServer(.sample(3 * mebibyte))
        // The error is the same as that of other downloads, but nothing is requested.
        let error = await session.download(server.url, parallel: 2, to: server.folder).result.error as? AFError
        let destination: DownloadRequest.Destination = { [folder = server.folder] _, _ in (folder, .removePreviousFile)
        }
        let other = await session.download(server.url, to: destination).serializingDownloadedFileURL().response
        let expected = try #require(other.error)
        #expect(error?.isDownloadedFileMoveError == true)
        #expect(error?.destinationURL == server.folder)
        #expect(error?.underlyingError as? CocoaError == expected.underlyingError as? CocoaError)
        #expect(server.requestCount == 1)
        let inFile = URL(filePath: "/dev/null/file")
        guard
            case .cannotWrite = await session.download(server.url, parallel: 2, to: inFile).result.error
                as? ParallelDownloadError
        else {
            Issue.record("no error")
            return
        }
    }

    @Test func anImpossibleLengthIsAnError() async throws {
        let server = try await FileServer(.sample(3 * mebibyte)) { _, _, answer in
            answer.headers["Content-Range"] = "bytes 0-1048575/\(Int64.max)"
        }
        guard
            case .cannotWrite = await session.download(server.url, parallel: 2, to: server.file).result.error
                as? ParallelDownloadError
        else {
            Issue.record("no error")
            return
        }
        #expect(server.names.isEmpty)
    }

    /// A server can announce any length, but only the bytes that it sends use space.
    @Test func anAnnouncedLengthUsesNoSpace() async throws {
        let server = try await FileServer(.sample(3 * mebibyte)) { number, _, answer in
            answer.headers["Content-Range"] = "bytes 0-1048575/\(1 << 40)"
            guard number > 0 else { return }
            (answer.status, answer.bytes) = (503, 0..<0)
            answer.headers["Retry-After"] = "60"
        }
        let values = AsyncStream.makeStream(of: Int64.self)
        let download = session.download(server.url, parallel: 2, to: server.file)
            .downloadProgress(queue: DispatchQueue(label: "test")) { values.continuation.yield($0.completedUnitCount) }
            .resume()
        for await value in values.stream where value == Int64(mebibyte) { break }
        let name = try #require(server.names.first)
        var status = stat()
        #expect(lstat(server.folder.appending(path: name).path, &status) == 0)
        #expect(Int64(status.st_size) == 1 << 40)
        #expect(Int64(status.st_blocks) * 512 < 16 * Int64(mebibyte))
        download.cancel()
        #expect(await (download.result.error as? AFError)?.isExplicitlyCancelledError == true)
        #expect(server.names.isEmpty)
    }

    @Test func aFullDiskIsDescribed() {
        let error = ParallelDownloadError.cannotWrite(path: "/tmp/x", code: ENOSPC)
        #expect(error.localizedDescription.hasPrefix("The disk is full"))
    }

    /// The last chunk is missing, but all bytes of the range have arrived.
    @Test(arguments: [0, 1]) func aResponseThatFailsAfterItsLastByteIsComplete(number: Int) async throws {
        let content = Data.sample(2 * mebibyte)
        func response(_ range: Range<Int>, isCut: Bool) -> [RawServer.Step] {
            let head =
                "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\n"
                + "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)\r\n"
                + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n\(String(range.count, radix: 16))\r\n"
            return [
                .receiveHead, .send(Data(head.utf8) + content[range] + Data("\r\n\(isCut ? "" : "0\r\n\r\n")".utf8)),
                .close,
            ]
        }
        let server = try await RawServer.start(scripts: [
            response(0..<mebibyte, isCut: number == 0), response(mebibyte..<content.count, isCut: number == 1),
        ])
        let folder = FileManager.default.temporaryDirectory.appending(path: "afar-parallel-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file")
        _ = try await session.download(server.url, parallel: 1, to: file).value
        #expect(try Data(contentsOf: file) == content)
        #expect(server.connectionCount == 2)
        await server.stop()
    }

    // MARK: Cancellation

    @Test func cancelingEndsAllRequestsAndRemovesTheFile() async throws {
        let server = try await TestServer.start()
        let folder = FileManager.default.temporaryDirectory.appending(path: "afar-parallel-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        // Each part stalls after its first bytes.
        let stalls = (1...32).map { "\($0 * mebibyte + 1000)" }.joined(separator: ",")
        let url = server.url("/range/\(16 * mebibyte)?stalls=\(stalls)")
        for cancelsTask in [false, true] {
            let values = AsyncStream.makeStream(of: Int64.self)
            let download = session.download(url, parallel: 4, to: folder.appending(path: "file"))
                .downloadProgress(queue: DispatchQueue(label: "test")) {
                    values.continuation.yield($0.completedUnitCount)
                }
            let task = Task { await download.result }
            for await value in values.stream where value > Int64(mebibyte) + 2_000 { break }
            if cancelsTask { task.cancel() } else { download.cancel() }
            let error = await task.value.error as? AFError
            #expect(error?.isExplicitlyCancelledError == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            // A request can remain in the list until its handlers have returned.
            let areCanceled = await withCheckedContinuation { continuation in
                session.withAllRequests { continuation.resume(returning: $0.allSatisfy(\.isCancelled)) }
            }
            #expect(areCanceled)
        }
        await server.stop()
    }

    @Test func theEndOfTheSessionEndsTheDownload() async throws {
        let server = try await FileServer(.sample(3 * mebibyte))
        let session = Session()
        session.invalidate()
        let error = await session.download(server.url, parallel: 2, to: server.file).result.error as? AFError
        #expect(error?.isSessionInvalidatedError == true)
        #expect(server.names.isEmpty)
    }
}

/// A generator whose numbers depend only on its seed.
struct SeededGenerator: RandomNumberGenerator {
    private var bytes: PseudoRandomBytes

    init(seed: UInt64) { bytes = PseudoRandomBytes(seed: seed) }

    mutating func next() -> UInt64 { bytes.next(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
