import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// A download of several megabytes that is interrupted at pseudorandom offsets. In the end, the file must match byte
/// for byte.
@Suite struct DownloadSurvivalTests {
    private static let kinds = TransportKind.all(with: [.fileDelivery])
    private static let size = 3_000_000
    private static let seed: UInt64 = 20
    /// Twenty offsets in ascending order.
    private static let places: [Int] = {
        let bytes = PseudoRandomBytes.bytes(20 * 4, seed: seed)
        return (0..<20).map { index in
            1 + bytes.dropFirst(index * 4).prefix(4).reduce(0) { $0 << 8 | Int($1) } % (size - 1)
        }.sorted()
    }()
    private let directory = ScratchDirectory()

    @Test(.timeLimit(.minutes(1)), arguments: kinds)
    func interruptedByTheConnection(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let cuts = Self.places.map { "\($0)" }.joined(separator: ",")
        let url = server.url("/range/\(Self.size)?seed=\(Self.seed)&cuts=\(cuts)")
        var response = await session.download(url).serializingData().response
        for place in Set(Self.places).sorted() {
            let data = try #require(response.error?.downloadResumeData, "\(String(describing: response.error))")
            #expect(try ResumeData(decoding: data).byteCount == Int64(place))
            response = await session.download(resumingWith: data).serializingData().response
        }
        #expect(response.value == PseudoRandomBytes.bytes(Self.size, seed: Self.seed))
        #expect(server.requestCount == Set(Self.places).count + 1)
        if let file = response.fileURL { try FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        await server.stop()
    }

    @Test(.timeLimit(.minutes(1)), arguments: kinds)
    func interruptedByCancellation(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let stalls = Self.places.map { "\($0)" }.joined(separator: ",")
        var request = session.download(server.url("/range/\(Self.size)?seed=\(Self.seed)&stalls=\(stalls)"))
        for place in Set(Self.places).sorted() {
            let current = request
            current.downloadProgress(queue: DispatchQueue(label: "progress")) { progress in
                if progress.completedUnitCount == place { current.cancel(producingResumeData: true) }
            }
            let data = try #require(await current.serializingDownloadedFileURL().response.resumeData)
            #expect(try ResumeData(decoding: data).byteCount == Int64(place))
            request = session.download(resumingWith: data)
        }
        let response = await request.serializingData().response
        #expect(response.value == PseudoRandomBytes.bytes(Self.size, seed: Self.seed))
        if let file = response.fileURL { try FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        await server.stop()
    }
}
