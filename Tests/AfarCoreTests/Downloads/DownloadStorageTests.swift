import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The files of a download over several attempts, tested without requests.
@Suite struct DownloadStorageTests {
    private struct Broken: Error {}

    private static let url = "http://h/file"

    private func urlRequest() throws -> URLRequest {
        var request = try URLRequest(url: Self.url, method: .get)
        request.setValue("hidden", forHTTPHeaderField: "X-Own")
        return request
    }

    /// Creates a response head for all ten bytes.
    private func head(_ status: Int = 200, _ fields: HTTPFields = [:]) -> ResponseHead {
        ResponseHead(
            status: status, fields: HTTPFields([HTTPField(name: .eTag, value: "\"a\"")] + Array(fields)), url: Self.url)
    }

    /// Begins an attempt and receives part of a response.
    ///
    /// - Returns: The offset of the requested range, or `nil` if the whole file was requested.
    @discardableResult
    private func receive(_ body: String, of head: ResponseHead, into sink: DownloadStorage) throws -> Int64? {
        sink.begin()
        let request = try urlRequest()
        try sink.prepare(for: request, hiding: ["X-Own"])
        guard case .file(let expected, _) = try sink.open() else {
            Issue.record("a download is delivered to a file")
            return nil
        }
        let start = sink.resumeStage?.delivery.remainingRange?.start
        var descriptor = expected
        switch sink.decision(at: head, sent: request) {
        case .take(.file(let other, _)): descriptor = other
        case .take: break
        default: throw Broken()
        }
        #expect(write(descriptor, body, body.utf8.count) == body.utf8.count)
        return start
    }

    private func text(_ url: URL?) throws -> String { try String(contentsOf: #require(url), encoding: .utf8) }

    @Test func aCompleteBodyIsAMovableFile() throws {
        let sink = DownloadStorage()
        try receive("0123456789", of: head(200, [.contentLength: "10"]), into: sink)
        #expect(sink.files.fileURL == nil && sink.wholeFile == nil && sink.files.resumeData == nil)
        let arrived = sink.files.temporaryURL
        let file = try sink.finish()
        #expect(
            file != arrived && sink.files.fileURL == file && sink.wholeFile == file && sink.files.temporaryURL == file)
        #expect(try text(file) == "0123456789")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let destination = folder.appendingPathComponent("moved")
        try sink.move(to: destination, .createIntermediateDirectories)
        let files = sink.files
        #expect(files.fileURL == destination && files.destinationURL == destination && files.resumeData == nil)
        #expect(try text(destination) == "0123456789")
        try FileManager.default.removeItem(at: folder)
    }

    @Test func anUnmovableFileIsKeptUntilTheNextAttempt() throws {
        let sink = DownloadStorage()
        try receive("0123456789", of: head(), into: sink)
        let file = try sink.finish()
        let nowhere = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())/file")
        #expect(throws: CocoaError.self) {
            try sink.move(to: nowhere, [])
        }
        #expect(sink.files.fileURL == nil)
        #expect(try text(file) == "0123456789")
        sink.begin()
        #expect(!FileManager.default.fileExists(atPath: file?.path ?? ""))
    }

    @Test func anInterruptedAttemptIsResumed() throws {
        let sink = DownloadStorage()
        try receive("0123", of: head(200, [.contentLength: "10"]), into: sink)
        #expect(sink.resumableInFlight != nil && sink.files.resumeData == nil)
        sink.interrupt(keeping: true)
        let data = try #require(sink.files.resumeData)
        #expect(!String(decoding: data, as: UTF8.self).contains("hidden"))
        let rest: HTTPFields = [.contentRange: "bytes 4-9/10", .contentLength: "6"]
        #expect(try receive("456789", of: head(206, rest), into: sink) == 4)
        #expect(sink.offset == 4)
        #expect(try text(sink.finish()) == "0123456789")
        #expect(sink.files.resumeData == nil)
    }

    @Test func anUnwantedPartialFileIsRemoved() throws {
        let sink = DownloadStorage()
        try receive("0123", of: head(200, [.contentLength: "10"]), into: sink)
        let file = try #require(sink.files.temporaryURL)
        sink.interrupt(keeping: false)
        #expect(sink.files.resumeData == nil && sink.files.temporaryURL == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func aMismatchedRangeRestartsTheDownload() throws {
        let sink = DownloadStorage()
        try receive("0123", of: head(200, [.contentLength: "10"]), into: sink)
        sink.interrupt(keeping: true)
        sink.begin()
        let request = try urlRequest()
        try sink.prepare(for: request, hiding: [])
        _ = try sink.open()
        let delivery = try #require(sink.resumeStage?.delivery)
        let unusable = head(206, [.contentRange: "bytes 5-9/10", .contentLength: "5"])
        #expect(!delivery.accepts(unusable))
        guard case .refuse = sink.decision(at: unusable, sent: request) else {
            Issue.record("the mismatched response was accepted")
            return
        }
        try delivery.prepareRetry(after: unusable)
        #expect(delivery.remainingRange == nil && delivery.accepts(head()) && sink.resumeStage == nil)
        guard case .take(nil) = sink.decision(at: head(), sent: request) else {
            Issue.record("the complete response was not accepted")
            return
        }
        #expect(write(delivery.descriptor, "0123456789", 10) == 10)
        #expect(try text(sink.finish()) == "0123456789")
    }

    /// Creates an interrupted download that a new attempt resumes.
    private func resumed() throws -> (sink: DownloadStorage, delivery: DownloadDelivery) {
        let sink = DownloadStorage()
        try receive("0123", of: head(200, [.contentLength: "10"]), into: sink)
        sink.interrupt(keeping: true)
        sink.begin()
        try sink.prepare(for: urlRequest(), hiding: [])
        _ = try sink.open()
        return (sink, try #require(sink.resumeStage?.delivery))
    }

    private var rest: ResponseHead { head(206, [.contentRange: "bytes 4-9/10", .contentLength: "6"]) }

    @Test func aCompleteResponseReplacesThePartialFile() throws {
        let (sink, delivery) = try resumed()
        #expect(delivery.accepts(rest))
        guard case .take(nil) = sink.decision(at: head(), sent: nil) else { Issue.record("not accepted"); return }
        #expect(write(delivery.descriptor, "ABCDEF", 6) == 6)
        // The original part has been replaced, so the rest of the original file isn't accepted.
        #expect(!delivery.accepts(rest))
    }

    @Test func anExpectedLengthAppliesOnlyToItsResponse() throws {
        let (sink, delivery) = try resumed()
        guard case .take(nil) = sink.decision(at: rest, sent: nil) else { Issue.record("not accepted"); return }
        guard case .take(nil) = sink.decision(at: head(200, [.contentLength: "5"]), sent: nil) else {
            Issue.record("not accepted")
            return
        }
        #expect(sink.offset == 0)
        #expect(write(delivery.descriptor, "whole", 5) == 5)
        #expect(try text(sink.finish()) == "whole")
    }

    @Test func waitersAreStoredWhileAFileIsWritten() throws {
        let sink = DownloadStorage()
        #expect(!sink.whenSettled { _ in })
        try receive("0123", of: head(), into: sink)
        #expect(sink.whenSettled { _ in })
        sink.interrupt(keeping: false)
        #expect(!sink.whenSettled { _ in })
        #expect(sink.takeWaiting().count == 1)
        #expect(sink.takeWaiting().isEmpty)
    }

    @Test func finishingWithoutAFileReturnsNil() throws {
        let sink = DownloadStorage()
        guard case .take(nil) = sink.decision(at: head(), sent: nil) else {
            Issue.record("the body was not accepted")
            return
        }
        #expect(try sink.finish() == nil)
        #expect(sink.offset == 0)
    }
}
