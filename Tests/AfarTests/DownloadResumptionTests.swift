import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Resuming interrupted downloads, over each real transport. The file contains the 26 letters.
@Suite struct DownloadResumptionTests {
    private static let kinds = TransportKind.all(with: [.fileDelivery])
    private static let letters = "abcdefghijklmnopqrstuvwxyz"
    /// Sends ten letters of the file and closes the connection.
    private static let start: [RawServer.Step] = [
        .respond("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 26\r\n\r\n" + letters.prefix(10)), .close,
    ]
    /// The remaining letters.
    private static let rest =
        "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 10-25/26\r\nContent-Length: 16\r\n\r\n"
        + letters.dropFirst(10)
    private let directory = ScratchDirectory()

    private var file: URL { directory.url.appendingPathComponent("letters") }
    private var destination: DownloadRequest.Destination { { [file] _, _ in (file, []) } }

    /// Interrupts a download and returns the resume data.
    private func interrupt(_ url: URL, _ session: Session) async throws -> Data {
        let request = session.download(url)
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error?.isSessionTaskError == true)
        let data = try #require(response.resumeData)
        #expect(response.error?.downloadResumeData == data)
        #expect(request.resumeData == data)
        #expect(request.fileURL == nil)
        return data
    }

    private func partialFile(of data: Data) throws -> URL {
        URL(fileURLWithPath: try ResumeData(decoding: data).path)
    }

    private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Interrupts a download, resumes it with a script, and returns the response and the requests' heads.
    private func resumed(
        _ kind: TransportKind, _ scripts: [[RawServer.Step]], start: [RawServer.Step] = start,
        prepare: (inout ResumeData) throws -> Void = { _ in }
    ) async throws -> (response: AFDownloadResponse<URL>, heads: [String], partial: URL) {
        let server = try await RawServer.start(scripts: [start] + scripts)
        let session = kind.session()
        var data = try ResumeData(decoding: try await interrupt(server.url, session))
        let partial = URL(fileURLWithPath: data.path)
        try prepare(&data)
        let response = await session.download(resumingWith: data.encoded(), to: destination).validate()
            .serializingDownloadedFileURL().response
        let heads = server.requests
        await server.stop()
        return (response, heads, partial)
    }

    // MARK: Resuming

    @Test(arguments: kinds)
    func theRemainingBytesAreRequestedAndAppended(kind: TransportKind) async throws {
        let (response, heads, partial) = try await resumed(kind, [[.respond(Self.rest)]])
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        #expect(response.response?.statusCode == 206)
        #expect(response.resumeData == nil)
        let head = try #require(heads.last?.lowercased())
        #expect(head.contains("\r\nrange: bytes=10-\r\n"))
        #expect(head.contains("\r\nif-range: \"v1\"\r\n"))
        #expect(head.contains("\r\naccept-encoding: identity\r\n"))
        #expect(!exists(partial.deletingLastPathComponent()))
    }

    private func permissions(of file: URL) -> mode_t? {
        var status = stat()
        return lstat(file.path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test(arguments: kinds)
    func aPartialFileIsPrivateUntilItIsComplete(kind: TransportKind) async throws {
        let sample = directory.url.appendingPathComponent("sample")
        close(open(sample.path, O_WRONLY | O_CREAT, 0o666))
        let (response, _, _) = try await resumed(kind, [[.respond(Self.rest)]]) { data in
            #expect(permissions(of: URL(fileURLWithPath: data.path)) == 0o600)
        }
        #expect(response.value == file)
        #expect(permissions(of: file) == permissions(of: sample))
    }

    @Test(arguments: kinds)
    func aNewFileIsPrivateUntilItIsComplete(kind: TransportKind) async throws {
        let sample = directory.url.appendingPathComponent("sample")
        close(open(sample.path, O_WRONLY | O_CREAT, 0o666))
        let gate = RawServer.Gate()
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .hold(gate), .send("b"),
        ])
        let session = kind.session()
        let request = session.download(server.url)
        let head = Deferred<Void>()
        let task = request.onHTTPResponse { _ in head.fulfill(()) }.serializingDownloadedFileURL()
        await head.value
        #expect(request.temporaryURL.flatMap { permissions(of: $0) } == 0o600)
        gate.open()
        let whole = try await task.value
        #expect(permissions(of: whole) == permissions(of: sample))
        #expect(try FileManager.default.contentsOfDirectory(atPath: whole.deletingLastPathComponent().path).count == 1)
        try FileManager.default.removeItem(at: whole.deletingLastPathComponent())
        await server.stop()
    }

    @Test(arguments: kinds)
    func withoutADestinationTheCompleteFileStaysInItsDirectory(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let session = kind.session()
        let data = try await interrupt(server.url, session)
        let url = try await session.download(resumingWith: data).serializingDownloadedFileURL().value
        let partial = try partialFile(of: data)
        #expect(url.deletingLastPathComponent() == partial.deletingLastPathComponent())
        #expect(try String(contentsOf: url, encoding: .utf8) == Self.letters)
        try FileManager.default.removeItem(at: url.deletingLastPathComponent())
        await server.stop()
    }

    @Test(arguments: kinds)
    func progressStartsWithThePartialFileAndCountsTowardTheTotal(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let session = kind.session()
        let data = try await interrupt(server.url, session)
        let seen = Locked<[[Int64]]>([])
        let queue = DispatchQueue(label: "progress")
        let request = session.download(resumingWith: data, to: destination).downloadProgress(queue: queue) { progress in
            seen.withLock { $0.append([progress.completedUnitCount, progress.totalUnitCount]) }
        }
        _ = try await request.serializingDownloadedFileURL().value
        queue.sync {}
        #expect(seen.withLock { $0.allSatisfy { $0[0] >= 10 && $0[1] == 26 } })
        #expect(seen.withLock { $0.last } == [26, 26])
        #expect(request.downloadProgress.completedUnitCount == 26)
        await server.stop()
    }

    @Test(arguments: kinds)
    func aRetryResumesThePreviousAttempt(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let session = kind.session()
        let response = await session.download(server.url, interceptor: OneRetry(), to: destination)
            .serializingDownloadedFileURL().response
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        #expect(server.requests.last?.lowercased().contains("range: bytes=10-") == true)
        await server.stop()
    }

    @Test(arguments: kinds)
    func credentialsAreAddedByTheInterceptor(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [Self.start, [.respond(Self.rest)]])
        let session = kind.session()
        let first = session.download(
            server.url, headers: [.authorization(bearerToken: "secret"), .init(name: "X-Kept", value: "yes")])
        let data = try #require(await first.serializingDownloadedFileURL().response.resumeData)
        #expect(!String(decoding: data, as: UTF8.self).contains("secret"))
        let second = session.download(resumingWith: data, interceptor: FreshToken(), to: destination)
        #expect(await second.serializingDownloadedFileURL().response.value == file)
        let head = try #require(server.requests.last)
        #expect(head.contains("Bearer fresh") && head.contains("X-Kept: yes"))
        await server.stop()
    }

    // MARK: Restarting

    @Test(arguments: kinds)
    func aChangedFileOrAServerWithoutRangesRestarts(kind: TransportKind) async throws {
        let whole = "HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nContent-Length: 5\r\n\r\nwhole"
        let (response, heads, _) = try await resumed(kind, [[.respond(whole)]])
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "whole")
        #expect(heads.count == 2)
    }

    @Test(
        arguments: kinds,
        [
            "206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 9-25/26\r\nContent-Length: 17",
            "206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 10-26/27\r\nContent-Length: 17",
            "206 Partial Content\r\nETag: \"v2\"\r\nContent-Range: bytes 10-25/26\r\nContent-Length: 16",
            "206 Partial Content\r\nETag: \"v1\"\r\nContent-Type: multipart/byteranges; boundary=x\r\nContent-Length: 17",
            "206 Partial Content\r\nETag: \"v1\"\r\nContent-Length: 16",
            "416 Range Not Satisfiable\r\nContent-Range: bytes */5\r\nContent-Length: 20",
            "416 Range Not Satisfiable\r\nContent-Length: 20",
        ])
    func aMismatchedResponseRestartsOnce(kind: TransportKind, head: String) async throws {
        let whole = "HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nContent-Length: 5\r\n\r\nwhole"
        let (response, heads, partial) = try await resumed(
            kind, [[.respond("HTTP/1.1 \(head)\r\n\r\n" + "WRONGWRONGWRONGWRONG"), .close], [.respond(whole)]])
        #expect(response.value == file, "\(String(describing: response.error))")
        #expect(try String(contentsOf: file, encoding: .utf8) == "whole")
        #expect(heads.count == 3)
        #expect(heads.last?.lowercased().contains("range:") == false)
        #expect(!exists(partial))
    }

    @Test(arguments: kinds)
    func aPartFromAnotherServerIsNotAppended(kind: TransportKind) async throws {
        let one = try await RawServer.start(scripts: [Self.start])
        // The second request can use the connection of the first one.
        let whole = RawServer.Step.respond("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 5\r\n\r\nother")
        let other = try await RawServer.start(scripts: [[.respond(Self.rest), whole], [whole]])
        let places: [[RawServer.Step]] = [one, other, other].map { place in
            [.respond("HTTP/1.1 302 Found\r\nLocation: \(place.url)x\r\nContent-Length: 0\r\n\r\n"), .close]
        }
        let server = try await RawServer.start(scripts: places)
        let session = kind.session()
        let data = try await interrupt(server.url, session)
        let response = await session.download(resumingWith: data, to: destination).serializingDownloadedFileURL()
            .response
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "other")
        #expect(other.requests.map { $0.lowercased().contains("range:") } == [true, false])
        for server in [one, other, server] { await server.stop() }
    }

    @Test(arguments: kinds)
    func aMissingPartialFileRestarts(kind: TransportKind) async throws {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"
        let (response, heads, _) = try await resumed(kind, [[.respond(whole)]]) { data in
            try FileManager.default.removeItem(atPath: URL(fileURLWithPath: data.path).deletingLastPathComponent().path)
        }
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "whole")
        #expect(heads.last?.lowercased().contains("range:") == false)
    }

    @Test(arguments: kinds)
    func aRestartBeginsBeforeTheRedirects(kind: TransportKind) async throws {
        let other = try await RawServer.start([.respond(Self.rest), .close])
        let redirect = "HTTP/1.1 302 Found\r\nLocation: \(other.url)x\r\nContent-Length: 0\r\n\r\n"
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"
        let server = try await RawServer.start(scripts: [
            Self.start, [.respond(redirect), .close], [.respond(whole), .close],
        ])
        let session = kind.session()
        let data = try await interrupt(server.url, session)
        let response = await session.download(resumingWith: data, to: destination).serializingDownloadedFileURL()
            .response
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "whole")
        #expect(response.metrics?.redirectCount == 0)
        #expect(response.metrics?.transactionMetrics.count == 3)
        await server.stop()
        await other.stop()
    }

    @Test(arguments: kinds)
    func aShorterPartialFileIsResumedAtItsLength(kind: TransportKind) async throws {
        let rest =
            "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 4-25/26\r\nContent-Length: 22\r\n\r\n"
            + Self.letters.dropFirst(4)
        let (response, heads, _) = try await resumed(kind, [[.respond(rest)]]) { data in
            #expect(truncate(data.path, 4) == 0)
        }
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        #expect(heads.last?.lowercased().contains("range: bytes=4-") == true)
    }

    @Test(arguments: kinds)
    func aLongerPartialFileIsTruncated(kind: TransportKind) async throws {
        let (response, heads, _) = try await resumed(kind, [[.respond(Self.rest)]]) { data in
            let handle = try #require(FileHandle(forWritingAtPath: data.path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("garbage".utf8))
            try handle.close()
        }
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        #expect(heads.last?.lowercased().contains("range: bytes=10-") == true)
    }

    // MARK: Complete files

    @Test(arguments: kinds)
    func theLastByteOfACompleteFileIsRequestedAgain(kind: TransportKind) async throws {
        let last =
            "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 25-25/26\r\nContent-Length: 1\r\n\r\nz"
        let (response, heads, _) = try await resumed(kind, [[.respond(last)]]) { data in
            try Data(Self.letters.utf8).write(to: URL(fileURLWithPath: data.path))
            data.byteCount = 26
        }
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        #expect(heads.last?.lowercased().contains("range: bytes=25-") == true)
    }

    @Test(arguments: kinds)
    func after416TheLastByteIsRequested(kind: TransportKind) async throws {
        let start: [RawServer.Step] = [
            .respond("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\n" + Self.letters),
            .close,
        ]
        let none = "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */26\r\nContent-Length: 5\r\n\r\nWRONG"
        let last =
            "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 25-25/26\r\nContent-Length: 1\r\n\r\nz"
        let (response, heads, _) = try await resumed(kind, [[.respond(none), .close], [.respond(last)]], start: start)
        #expect(response.value == file, "\(String(describing: response.error))")
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        #expect(heads.count == 3)
    }

    // MARK: Other answers

    @Test(
        arguments: kinds, ["404 Not Found", "503 Service Unavailable", "302 Found\r\nLocation: /x", "204 No Content"])
    func anUnrelatedResponseKeepsThePartialFile(kind: TransportKind, status: String) async throws {
        let body = status.hasPrefix("204") ? "" : "page"
        let length = body.isEmpty ? "" : "Content-Length: 4\r\n"
        let server = try await RawServer.start(
            scripts: [
                Self.start, [.respond("HTTP/1.1 \(status)\r\n\(length)\r\n\(body)"), .close], [.respond(Self.rest)],
            ])
        let session = kind.session()
        let data = try await interrupt(server.url, session)
        let partial = try partialFile(of: data)
        let refused = session.download(resumingWith: data, to: destination).validate(statusCode: [206])
            .redirect(using: .modify { _, _, _ in nil })
        let response = await refused.serializingDownloadedFileURL().response
        #expect(response.error?.responseCode == Int(status.prefix(3)))
        #expect(response.resumeData == data)
        #expect(try String(contentsOf: partial, encoding: .utf8) == String(Self.letters.prefix(10)))
        let page = try #require(response.fileURL)
        #expect(try FileHandle(forReadingFrom: page).readToEnd() ?? Data() == Data(body.utf8))
        #expect(!exists(file))
        let url = try await session.download(resumingWith: data, to: destination).serializingDownloadedFileURL().value
        #expect(try String(contentsOf: url, encoding: .utf8) == Self.letters)
        await server.stop()
    }

    @Test(arguments: kinds)
    func anUnreachableServerKeepsThePartialFile(kind: TransportKind) async throws {
        let server = try await RawServer.start(Self.start)
        let session = kind.session()
        let data = try await interrupt(server.url, session)
        await server.stop()
        let response = await session.download(resumingWith: data).serializingDownloadedFileURL().response
        #expect(response.error?.isSessionTaskError == true)
        #expect(response.resumeData == data)
        #expect(response.error?.downloadResumeData == data)
        let partial = try partialFile(of: data)
        #expect(try String(contentsOf: partial, encoding: .utf8) == String(Self.letters.prefix(10)))
        try FileManager.default.removeItem(at: partial.deletingLastPathComponent())
    }

    @Test(arguments: kinds)
    func aTruncatedRemainderIsNotASuccess(kind: TransportKind) async throws {
        let short =
            "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 10-25/26\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n3\r\nklm\r\n0\r\n\r\n"
        let (response, _, partial) = try await resumed(kind, [[.respond(short)]])
        #expect(response.error?.isSessionTaskError == true)
        let left = try #require(response.resumeData)
        #expect(try ResumeData(decoding: left).byteCount == 13)
        #expect(try String(contentsOf: partial, encoding: .utf8) == "abcdefghijklm")
        try FileManager.default.removeItem(at: partial.deletingLastPathComponent())
    }

    @Test(arguments: kinds)
    func anUnrequestedPartialResponseIsNotAFile(kind: TransportKind) async throws {
        let server = try await RawServer.start([.respond(Self.rest)])
        let session = kind.session()
        let request = session.download(server.url, to: destination)
        let response = await request.serializingDownloadedFileURL().response
        let cause = (response.error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
        #expect(cause?.code == .malformedResponse)
        #expect(!exists(file))
        await server.stop()
    }

    // MARK: Resume data

    @Test(arguments: kinds)
    func nonResumableDownloadsLeaveNothing(kind: TransportKind) async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nETag: W/\"v1\"\r\nContent-Length: 26\r\n\r\nabc"), .close,
        ])
        let session = kind.session()
        let request = session.download(server.url)
        let place = Locked<URL?>(nil)
        let response = await request.downloadProgress(queue: .global()) { _ in
            place.withLock { $0 = request.temporaryURL ?? $0 }
        }.serializingDownloadedFileURL().response
        #expect(response.error?.isSessionTaskError == true)
        #expect(response.resumeData == nil && request.resumeData == nil)
        if let place = place.withLock({ $0 }) { #expect(!exists(place)) }
        await server.stop()
    }

    @Test func badResumeDataIsATypedError() async throws {
        let session = Session()
        let good = ResumeData(
            url: URL(fileURLWithPath: "/"), headers: [], validator: .entityTag("\"a\""), path: "/x", byteCount: 1,
            totalLength: nil
        ).encoded()
        let cases: [(Data, ResumeDataError)] = [
            (Data("bplist00".utf8), .notResumeData), (good.dropLast(), .damaged),
            (Data("AfarResumeData/9 x\n".utf8), .newerVersion(9)),
        ]
        for (data, expected) in cases {
            let response = await session.download(resumingWith: data).serializingDownloadedFileURL().response
            #expect(response.error?.isCreateURLRequestError == true)
            #expect(response.error?.underlyingError as? ResumeDataError == expected)
            #expect(response.resumeData == nil)
        }
        // The resume data's URL is invalid in a request.
        let response = await session.download(resumingWith: good).serializingDownloadedFileURL().response
        #expect(response.error?.invalidRequest != nil)
    }

    @Test func resumeDataTouchesNoOtherFile() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let precious = directory.url.appendingPathComponent("afar-x/download")
        try FileManager.default.createDirectory(
            at: precious.deletingLastPathComponent(), withIntermediateDirectories: true)
        let target = directory.url.appendingPathComponent("precious")
        try Data("precious".utf8).write(to: target)
        try FileManager.default.createSymbolicLink(at: precious, withDestinationURL: target)
        let open = directory.url.appendingPathComponent("afar-open/download")
        try FileManager.default.createDirectory(
            at: open.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("precious".utf8).write(to: open)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: open.deletingLastPathComponent().path)
        let paths = [
            precious.path, target.path, open.path, directory.url.path, "/dev/null", "relative/afar-x/download", "a\0b",
        ]
        for path in paths {
            let data = ResumeData(
                url: server.url("/large/10"), headers: [], validator: .entityTag("\"a\""), path: path, byteCount: 3,
                totalLength: nil)
            let request = session.download(resumingWith: data.encoded(), to: destination)
            let response = await request.serializingDownloadedFileURL().response
            #expect(response.value == file)
            #expect(try Data(contentsOf: file) == PatternBytes.bytes(10))
            try FileManager.default.removeItem(at: file)
        }
        #expect(try String(contentsOf: target, encoding: .utf8) == "precious")
        #expect(try String(contentsOf: open, encoding: .utf8) == "precious")
        await server.stop()
    }

    @Test func twoDownloadsDoNotShareAPartialFile() async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start(scripts: [Self.start, [.receiveHead, .hold(gate), .send(Self.rest)]])
        let session = Session()
        let data = try await interrupt(server.url, session)
        let first = session.download(resumingWith: data, to: destination).serializingDownloadedFileURL()
        try await server.head(connection: 1)
        let second = await session.download(resumingWith: data).serializingDownloadedFileURL().response
        let path = try partialFile(of: data).path
        #expect(second.error?.underlyingError as? ResumeDataError == .inUse(path: path))
        gate.open()
        #expect(try await first.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        await server.stop()
    }

    /// A completed file belongs to the caller, even if the download has no destination. Resume data that has already
    /// been used must not change the file.
    @Test func usedResumeDataDoesNotTouchACompleteFile() async throws {
        let server = try await RawServer.start(
            scripts: [Self.start, [.receiveHead, .send(Self.rest)], [.receiveHead, .waitForever]])
        let session = Session()
        let data = try await interrupt(server.url, session)
        let whole = try await session.download(resumingWith: data).serializingDownloadedFileURL().value
        let other = Session()
        let second = other.download(resumingWith: data)
        let task = second.serializingDownloadedFileURL()
        let head = try await server.head(connection: 2)
        #expect(!head.lowercased().contains("\r\nrange:"))
        #expect(try String(contentsOf: whole, encoding: .utf8) == Self.letters)
        second.cancel()
        _ = await task.response
        #expect(try String(contentsOf: whole, encoding: .utf8) == Self.letters)
        try FileManager.default.removeItem(at: whole)
        await server.stop()
    }
}

private struct OneRetry: RequestInterceptor {
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(request.retryCount == 0 ? .retry : .doNotRetry)
    }
}

private struct FreshToken: RequestInterceptor {
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.add(.authorization(bearerToken: "fresh"))
        completion(.success(urlRequest))
    }
}
