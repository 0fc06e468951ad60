import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Uploads to a real server, over each real transport that can do it.
@Suite struct UploadRequestTests {
    static let kinds = TransportKind.all(with: [.fileUpload])
    private let directory = ScratchDirectory()

    struct Receipt: Decodable, Sendable {
        let bytes: Int
        let checksum: String
    }

    @Test(arguments: kinds)
    func aFileArrivesWhole(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = PatternBytes.bytes(3_000_000)
        let file = directory.url.appendingPathComponent("body")
        try bytes.write(to: file)
        let receipt = try await session.upload(file, to: server.url("/upload")).validate()
            .serializingDecodable(Receipt.self).value
        #expect(receipt.bytes == bytes.count)
        #expect(receipt.checksum == BodyChecksum(bytes).hex)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func dataArrivesWhole(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = PatternBytes.bytes(200_000)
        let request = try URLRequest(url: server.url("/upload"), method: .put, headers: ["Content-Type": "x/y"])
        let receipt = try await session.upload(bytes, with: request).validate()
            .serializingDecodable(Receipt.self).value
        #expect(receipt.checksum == BodyChecksum(bytes).hex)
        await server.stop()
    }

    @Test(arguments: kinds)
    func progressEndsWithTheWhole(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let file = directory.url.appendingPathComponent("body")
        try PatternBytes.bytes(1_000_000).write(to: file)
        let counts = Locked<[Int64]>([])
        let queue = DispatchQueue(label: "progress")
        let request = session.upload(file, to: server.url("/upload")).uploadProgress(queue: queue) { progress in
            counts.withLock { $0.append(progress.completedUnitCount) }
        }
        _ = try await request.serializingDecodable(Receipt.self).value
        queue.sync {}
        let told = counts.withLock { $0 }
        #expect(told.last == 1_000_000)
        #expect(told == told.sorted())
        #expect(request.uploadProgress.fractionCompleted == 1)
        await server.stop()
    }

    @Test(arguments: kinds)
    func aMissingFileIsNamed(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let missing = directory.url.appendingPathComponent("missing")
        let response = await session.upload(missing, to: server.url("/upload")).serializingData().response
        #expect(response.error.map { "\($0)" }?.contains(missing.path) == true)
        await server.stop()
    }
}
