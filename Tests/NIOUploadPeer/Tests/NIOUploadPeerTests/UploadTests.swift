import Afar
import AfarResumableUploads
import Foundation
import Server
import Testing

/// Uploads to SwiftNIO's implementation of the Internet-Draft, in each of its interop versions.
@Suite(.timeLimit(.minutes(2))) struct UploadTests {
    private static let versions: [ResumableUploadProtocol.DraftVersion] = [.v3, .v5, .v6]

    /// Uploads a file of 3,000,000 bytes.
    private static func upload(
        _ version: ResumableUploadProtocol.DraftVersion, cuts: [Int],
        _ change: (inout ResumableUploadOptions) -> Void = { _ in }
    ) async throws -> (ResumableUploadResponse, isWhole: Bool, connectionCount: Int) {
        let server = try await UploadPeer(cuts: cuts)
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        let file = FileManager.default.temporaryDirectory.appending(path: "afar-nio-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var options = ResumableUploadOptions()
        options.firstDelay = .milliseconds(20)
        change(&options)
        let value = try await Session().uploadResumable(
            file, to: "http://127.0.0.1:\(server.port)/upload", protocol: .draft(version), options: options
        ).value
        try await server.stop()
        return (value, server.uploads == [bytes], server.connectionCount)
    }

    @Test(arguments: versions) func aFileArrives(_ version: ResumableUploadProtocol.DraftVersion) async throws {
        let (value, isWhole, count) = try await Self.upload(version, cuts: [])
        #expect(isWhole)
        #expect(value.data == Data("stored 3000000".utf8))
        #expect(count == 1)
    }

    @Test(arguments: versions)
    func aLostConnectionIsResumed(_ version: ResumableUploadProtocol.DraftVersion) async throws {
        let (value, isWhole, count) = try await Self.upload(version, cuts: [500_000, 500_100, 2_000_000])
        #expect(isWhole)
        #expect(value.data == Data("stored 3000000".utf8))
        #expect(value.url?.path.hasPrefix("/resumable_upload/") == true)
        #expect(count >= 4)
    }

    @Test(arguments: versions)
    func anUploadIsCreatedFirst(_ version: ResumableUploadProtocol.DraftVersion) async throws {
        let (value, isWhole, _) = try await Self.upload(version, cuts: [1_000_000]) { options in
            options.createsBeforeSending = true
            options.chunkSize = 700_000
        }
        #expect(isWhole)
        #expect(value.data == Data("stored 3000000".utf8))
    }
}
