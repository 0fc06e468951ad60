import Foundation
import Testing

@testable import AfarTransport

struct ChunkBufferTests {
    private let stream: ResponseBodyStream
    private let source: ResponseBodyStream.Source

    init() { (stream, source) = ResponseBodyStream.make(highWaterMark: .max, onDemand: {}, onCancel: {}) }

    private func append(_ bytes: [UInt8], to buffer: ChunkBuffer) {
        #expect(bytes.withUnsafeBytes { buffer.append($0, to: source) })
    }

    private static func address(of chunk: Data?) -> UnsafeRawPointer? { chunk?.withUnsafeBytes { $0.baseAddress } }

    @Test func fullChunksAreDelivered() async throws {
        let buffer = ChunkBuffer(highWaterMark: 64 * 1024)
        let bytes = (0..<80 * 1024).map { UInt8(truncatingIfNeeded: $0 % 251) }
        for start in stride(from: 0, to: bytes.count, by: 10_000) {
            append(Array(bytes[start..<min(start + 10_000, bytes.count)]), to: buffer)
        }
        source.yield(buffer.take())
        source.finish(throwing: nil, report: TransportReport())
        var chunks: [Data] = []
        for try await chunk in stream { chunks.append(chunk) }
        #expect(chunks.map(\.count) == [32, 32, 16].map { $0 * 1024 })
        #expect(chunks.reduce(Data(), +) == Data(bytes))
    }

    @Test(arguments: [0, 1, 100, 1 << 30, Int.max])
    func aChunkIsAtMostABlock(_ highWaterMark: Int) async throws {
        let buffer = ChunkBuffer(highWaterMark: highWaterMark)
        append(Array(repeating: 1, count: 256 * 1024), to: buffer)
        var iterator = stream.makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first?.count == (highWaterMark > 1 << 20 ? 256 : 16) * 1024)
    }

    /// Bytes that were read into the buffer's memory aren't copied.
    @Test func bytesWrittenInPlaceAreNotCopied() async throws {
        let buffer = ChunkBuffer(highWaterMark: 32 * 1024)
        append([1, 2, 3], to: buffer)
        let room = try #require(buffer.room)
        #expect(room.count == 16 * 1024 - 3)
        room.initializeMemory(as: UInt8.self, repeating: 4)
        #expect(buffer.append(UnsafeRawBufferPointer(room), to: source))
        var iterator = stream.makeAsyncIterator()
        let chunk = try await iterator.next()
        #expect(chunk == Data([1, 2, 3]) + Data(repeating: 4, count: room.count))
        #expect(Self.address(of: chunk) == UnsafeRawPointer(room.baseAddress).map { $0 - 3 })
    }

    /// The memory of a chunk is reused after the chunk has been released.
    @Test func blocksAreReused() async throws {
        let buffer = ChunkBuffer(highWaterMark: 32 * 1024)
        var iterator = stream.makeAsyncIterator()
        append(Array(repeating: 1, count: 16 * 1024), to: buffer)
        var chunk = try await iterator.next()
        let address = Self.address(of: chunk)
        #expect(address != nil)
        chunk = nil
        append(Array(repeating: 2, count: 16 * 1024), to: buffer)
        let next = try await iterator.next()
        #expect(Self.address(of: next) == address)
        #expect(next == Data(repeating: 2, count: 16 * 1024))
    }

    /// Retaining many small chunks doesn't retain as many large blocks.
    @Test func aSmallChunkDoesNotRetainABlock() {
        let buffer = ChunkBuffer(highWaterMark: 32 * 1024)
        append([1, 2, 3], to: buffer)
        let first = buffer.take()
        append([4, 5], to: buffer)
        #expect(first == Data([1, 2, 3]))
        #expect(buffer.take() == Data([4, 5]))
        #expect(buffer.take().isEmpty)
    }

    @Test func chunksOutliveTheBuffer() async throws {
        var buffer: ChunkBuffer? = ChunkBuffer(highWaterMark: 32 * 1024)
        for byte in 1...20 {
            if let buffer { append(Array(repeating: UInt8(byte), count: 16 * 1024), to: buffer) }
        }
        buffer = nil
        source.finish(throwing: nil, report: TransportReport())
        var firsts: [UInt8?] = []
        for try await chunk in stream { firsts.append(chunk.last) }
        #expect(firsts == (1...20).map { UInt8($0) })
    }
}
