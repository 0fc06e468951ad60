import Foundation
import TestSupport
import Testing

@testable import AfarCore

@Suite struct BlockingBufferTests {
    @Test func unreadBytesAreReleasedOutsideTheLock() async {
        let buffer = BlockingBuffer(highWaterMark: .max) {}
        let didLook = Deferred<Bool>()
        await buffer.append(DeinitProbe.bytes(didLook) { buffer.close() })
        buffer.close()
        #expect(await didLook.value)
    }

    @Test func readBytesAreReleasedOutsideTheLock() async {
        let buffer = BlockingBuffer(highWaterMark: .max) {}
        let didLook = Deferred<Bool>()
        await buffer.append(DeinitProbe.bytes(didLook) { buffer.close() })
        var bytes = [UInt8](repeating: 0, count: 5000)
        #expect(bytes.withUnsafeMutableBytes { buffer.read(into: $0) } == 4096)
        #expect(await didLook.value)
    }
}
