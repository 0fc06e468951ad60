import Foundation
import Testing

@testable import AfarTransport

struct GrowingBufferTests {
    private func append(_ bytes: [UInt8], to buffer: GrowingBuffer) -> Bool {
        bytes.withUnsafeBytes { buffer.append($0) }
    }

    @Test func bytesAreReturnedInOrder() {
        let buffer = GrowingBuffer()
        var expected = Data()
        for count in [1, 0, 1_023, 1, 4_000, 70_000, 3] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ count) }
            #expect(append(bytes, to: buffer))
            expected += bytes
        }
        #expect(buffer.take() == expected)
    }

    @Test func bytesWrittenInPlaceAreNotCopied() throws {
        let buffer = GrowingBuffer()
        #expect(buffer.room == nil)
        buffer.reserve(100)
        #expect(append([1, 2], to: buffer))
        let room = try #require(buffer.room)
        #expect(room.count == 98)
        room.initializeMemory(as: UInt8.self, repeating: 3)
        #expect(buffer.append(UnsafeRawBufferPointer(room)))
        #expect(append([3], to: buffer))
        #expect(buffer.take() == Data([1, 2]) + Data(repeating: 3, count: 99))
    }

    @Test func appendingNothingLeavesItEmpty() {
        let buffer = GrowingBuffer()
        #expect(append([], to: buffer))
        #expect(buffer.take().isEmpty)
        buffer.reserve(100)
        #expect(buffer.take().isEmpty)
    }

    @Test func takingLeavesItEmptyAndUsable() {
        let buffer = GrowingBuffer()
        #expect(append([1, 2, 3], to: buffer))
        let first = buffer.take()
        #expect(buffer.take().isEmpty)
        #expect(append([4], to: buffer))
        #expect(buffer.take() == Data([4]))
        #expect(first == Data([1, 2, 3]))
    }

    @Test(arguments: [0, 1, 3, 1_000_000, Int.max, -1])
    func aReservationChangesNothing(_ length: Int) {
        let buffer = GrowingBuffer()
        buffer.reserve(length)
        #expect(append([1, 2, 3], to: buffer))
        #expect(buffer.take() == Data([1, 2, 3]))
    }
}
