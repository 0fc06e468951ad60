import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Transfers that are held in flight, over each real transport that can do it.
@Suite struct SuspensionTests {
    /// More than all buffers between the two ends hold.
    private static let size = 50_000_000
    private let directory = ScratchDirectory()

    @Test(arguments: TransportKind.all(with: [.fileDelivery, .suspension]))
    func aSuspendedDownloadStandsStill(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let file = directory.url.appendingPathComponent("file")
        let request = session.download(server.url("/large/\(Self.size)"), to: { _, _ in (file, []) })
        try await hold(request, told: request.downloadProgress()) { request.downloadProgress }
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error == nil)
        #expect(try Data(contentsOf: file) == PatternBytes.bytes(Self.size))
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.fileUpload, .suspension]))
    func aSuspendedUploadStandsStill(kind: TransportKind) async throws {
        struct Receipt: Decodable, Sendable {
            let checksum: String
        }
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = PatternBytes.bytes(Self.size)
        let file = directory.url.appendingPathComponent("body")
        try bytes.write(to: file)
        let request = session.upload(file, to: server.url("/upload"))
        try await hold(request, told: request.uploadProgress()) { request.uploadProgress }
        let receipt = try await request.serializingDecodable(Receipt.self).value
        #expect(receipt.checksum == BodyChecksum(bytes).hex)
        await server.stop()
    }

    /// Starts a request, suspends it at its first bytes, sees it stand still, and resumes it.
    private func hold(
        _ request: Request, told progress: StreamOf<Progress>, _ now: () -> Progress
    ) async throws {
        request.resume()
        for await _ in progress {
            request.suspend()
            break
        }
        #expect(request.isSuspended)
        var before: Int64 = -1
        // Quiet for a while is as long as it needs to be sure that nothing moves.
        while case let count = now().completedUnitCount, count != before {
            before = count
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(before > 0)
        #expect(before < Self.size)
        request.resume()
    }
}
