import Foundation
import Testing

@testable import AfarCore

/// All reasons for encoding failures, caused by real files and streams.
@Suite struct MultipartFailureTests {
    private typealias Reason = AFError.MultipartEncodingFailureReason
    private let scratch = Scratch()

    /// Returns the reason why a form with these parts can't be encoded.
    private func reason(_ append: (MultipartFormData) -> Void) throws -> Reason? {
        let form = MultipartFormData()
        append(form)
        return try reason { _ = try form.encode() }
    }

    /// Returns the reason for an encoding failure.
    private func reason(_ encode: () throws -> Void) throws -> Reason? {
        let error = #expect(throws: AFError.self) { try encode() }
        guard case .multipartEncodingFailed(let reason)? = error else { return nil }
        return reason
    }

    // MARK: Files that are appended

    @Test(arguments: ["https://example.com/a.png", "data:,x"])
    func aNonFileURL(text: String) throws {
        let url = try #require(URL(string: text))
        for name in [nil, "x"] {
            let reason = try reason { form in
                if let name {
                    form.append(url, withName: "a", fileName: name, mimeType: "x/y")
                } else {
                    form.append(url, withName: "a")
                }
            }
            guard case .bodyPartURLInvalid(url) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
        }
    }

    @Test func aURLWithoutAFileName() throws {
        let root = try #require(URL(string: "file:///"))
        let reason = try reason { $0.append(root, withName: "a") }
        guard case .bodyPartFilenameInvalid(root) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test func aMissingFile() throws {
        let dangling = scratch.url.appendingPathComponent("dangling")
        try FileManager.default.createSymbolicLink(
            at: dangling, withDestinationURL: scratch.url.appendingPathComponent("gone"))
        for url in [scratch.url.appendingPathComponent("missing"), dangling] {
            let reason = try reason { $0.append(url, withName: "a") }
            guard case .bodyPartFileNotReachableWithError(url, let error) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect((error as? CocoaError)?.code == .fileReadNoSuchFile)
            #expect(cause(of: error) == .ENOENT)
        }
    }

    private func cause(of error: any Error) -> POSIXError.Code? {
        ((error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code
    }

    @Test func aPathThatLeadsNowhere() throws {
        let loop = scratch.url.appendingPathComponent("loop")
        try FileManager.default.createSymbolicLink(at: loop, withDestinationURL: loop)
        let cases: [(URL, POSIXError.Code)] = [
            (try scratch.file("file").appendingPathComponent("child"), .ENOTDIR), (loop, .ELOOP),
            (scratch.url.appendingPathComponent(String(repeating: "x", count: 300)), .ENAMETOOLONG),
        ]
        for (url, code) in cases {
            let reason = try reason { $0.append(url, withName: "a") }
            guard case .bodyPartFileNotReachableWithError(url, let error) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            #expect(cause(of: error) == code)
        }
    }

    @Test func aDirectory() throws {
        let reason = try reason { $0.append(scratch.url, withName: "a") }
        guard case .bodyPartFileIsDirectory(scratch.url) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test(.timeLimit(.minutes(1))) func aFileWithoutALength() throws {
        let fifo = scratch.url.appendingPathComponent("fifo")
        #expect(mkfifo(fifo.path, 0o600) == 0)
        for url in [fifo, URL(fileURLWithPath: "/dev/zero")] {
            let reason = try reason { $0.append(url, withName: "a") }
            guard case .bodyPartFileSizeNotAvailable(url) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func aFileWithAnUnknownLength() throws {
        let file = try scratch.file("removed")
        let descriptor = open(file.path, O_RDONLY)
        defer { close(descriptor) }
        try FileManager.default.removeItem(at: file)
        // The file is accessible, but its path no longer exists.
        let url = URL(fileURLWithPath: "/proc/self/fd/\(descriptor)")
        let reason = try reason { $0.append(url, withName: "a") }
        guard case .bodyPartFileSizeQueryFailedWithError(url, let error) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect((error as? POSIXError)?.code == .ENOENT)
    }

    @Test func aFailingFileManager() throws {
        final class Refusing: FileManager, @unchecked Sendable {
            override func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
                throw CocoaError(.fileReadNoPermission)
            }
        }
        let form = MultipartFormData(fileManager: Refusing())
        let file = try scratch.file("file")
        form.append(file, withName: "a")
        let reason = try reason { _ = try form.encode() }
        guard case .bodyPartFileSizeQueryFailedWithError(file, let error) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect((error as? CocoaError)?.code == .fileReadNoPermission)
    }

    // MARK: Files that changed

    @Test func aFileRemovedBeforeItIsRead() throws {
        let file = try scratch.file("file")
        let reason = try reason { form in
            form.append(file, withName: "a")
            unlink(file.path)
        }
        guard case .bodyPartInputStreamCreationFailed(file) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test(arguments: [3, 11])
    func aFileWhoseLengthHasChanged(length: Int) throws {
        let file = try scratch.file("file", Data(count: 7))
        let reason = try reason { form in
            form.append(file, withName: "a")
            #expect(throws: Never.self) { try Data(count: length).write(to: file) }
        }
        try expectLengths(reason, expected: 7, read: UInt64(length))
    }

    @Test(.timeLimit(.minutes(1))) func aPipeThatReplacesAFileDoesNotBlock() throws {
        let file = try scratch.file("file", Data(count: 7))
        let reason = try reason { form in
            form.append(file, withName: "a")
            unlink(file.path)
            mkfifo(file.path, 0o600)
        }
        try expectLengths(reason, expected: 7, read: 0)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mem")))
    func aFileThatCannotBeRead() throws {
        let reason = try reason { $0.append(URL(fileURLWithPath: "/proc/self/mem"), withName: "a") }
        guard case .inputStreamReadFailed(let error) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect((error as? POSIXError)?.code == .EIO)
    }

    // MARK: Streams

    @Test(arguments: [(10, 5), (1, 0), (300_000, 200_000)] as [(UInt64, Int)])
    func aStreamThatIsShorterThanAnnounced(announced: UInt64, given: Int) throws {
        let reason = try reason { form in
            form.append(
                InputStream(data: Data(count: given)), withLength: announced, name: "a", fileName: "b", mimeType: "x/y")
        }
        try expectLengths(reason, expected: announced, read: UInt64(given))
    }

    @Test(arguments: [-1, .min, .max])
    func aStreamThatFails(count: Int) throws {
        let reason = try reason { form in
            form.append(ScriptedStream { _, _ in count }, withLength: 5, headers: [:])
        }
        guard case .inputStreamReadFailed(let error) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect(error is ScriptedStream.ReadError)
    }

    @Test func aStreamOfFoundationsThatFails() throws {
        let stream = try #require(InputStream(url: scratch.url.appendingPathComponent("missing")))
        let reason = try reason { $0.append(stream, withLength: 5, headers: [:]) }
        guard case .inputStreamReadFailed = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    private func expectLengths(
        _ reason: Reason?, expected: UInt64, read: UInt64, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        guard case .inputStreamReadFailed(let error as AFError.UnexpectedInputStreamLength) = reason else {
            Issue.record("\(String(describing: reason))", sourceLocation: sourceLocation)
            return
        }
        #expect(error.bytesExpected == expected, sourceLocation: sourceLocation)
        #expect(error.bytesRead == read, sourceLocation: sourceLocation)
    }

    // MARK: The file written to

    @Test func aDestinationInAMissingDirectory() throws {
        let url = scratch.url.appendingPathComponent("no/such/form")
        let reason = try reason { try MultipartFormData().writeEncodedData(to: url) }
        guard case .outputStreamCreationFailed(url) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test func anExistingDestinationIsKept() throws {
        let file = try scratch.file("precious")
        let dangling = scratch.url.appendingPathComponent("dangling")
        let elsewhere = scratch.url.appendingPathComponent("elsewhere")
        try FileManager.default.createSymbolicLink(at: dangling, withDestinationURL: elsewhere)
        for url in [file, dangling, scratch.url] {
            let reason = try reason { try MultipartFormData().writeEncodedData(to: url) }
            guard case .outputStreamFileAlreadyExists(url) = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == "content")
        #expect(!FileManager.default.fileExists(atPath: elsewhere.path))
    }

    @Test func aDestinationThatIsNotAFile() throws {
        let url = try #require(URL(string: "https://example.com/form"))
        let reason = try reason { try MultipartFormData().writeEncodedData(to: url) }
        guard case .outputStreamURLInvalid(url) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func aDiskThatIsFull() throws {
        let url = scratch.url.appendingPathComponent("form")
        let form = MultipartFormData()
        // Redirects the form's file to a full device.
        let filling = ScriptedStream { _, capacity in
            let full = open("/dev/full", O_WRONLY)
            defer { close(full) }
            for (descriptor, path) in openFiles() where path == url.path { dup2(full, descriptor) }
            return capacity
        }
        form.append(filling, withLength: 1_000_000, headers: [:])
        let reason = try reason { try form.writeEncodedData(to: url) }
        guard case .outputStreamWriteFailed(let error) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect((error as? POSIXError)?.code == .ENOSPC)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(!openFiles().contains { $0.path == "/dev/full" })
    }

    @Test func aFailedPartLeavesNoFile() throws {
        let url = scratch.url.appendingPathComponent("form")
        let form = MultipartFormData()
        form.append(InputStream(data: Data(count: 100_000)), withLength: 100_001, headers: [:])
        #expect(throws: AFError.self) { try form.writeEncodedData(to: url) }
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(!openFiles().contains { $0.path.hasPrefix(url.path) })
    }

    // MARK: Order of errors

    @Test func theFirstFailureIsThrown() throws {
        let missing = scratch.url.appendingPathComponent("missing")
        let url = scratch.url.appendingPathComponent("form")
        let form = MultipartFormData()
        form.append(Data(count: 3), withName: "good")
        form.append(missing, withName: "a")
        form.append(scratch.url, withName: "b")
        form.append(Data(count: 3), withName: "good")
        #expect(form.contentLength == 3)
        for encode in [{ _ = try form.encode() }, { try form.writeEncodedData(to: url) }] {
            guard case .bodyPartFileNotReachableWithError(missing, _) = try reason(encode) else {
                Issue.record("unexpected reason")
                return
            }
        }
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}
