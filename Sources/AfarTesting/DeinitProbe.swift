package import AfarTransport
package import Foundation

/// Looks at something when nobody holds it any more, as a user's value may.
package final class DeinitProbe: Sendable {
    private let look: @Sendable () -> Void
    private let didLook: Deferred<Bool>

    /// - Parameter didLook: Whether the look came to its end.
    package init(_ didLook: Deferred<Bool>, look: @escaping @Sendable () -> Void) {
        self.look = look
        self.didLook = didLook
    }

    deinit { Self.perform(look, noting: didLook) }

    /// Bytes that look when nobody holds them any more.
    package static func bytes(_ didLook: Deferred<Bool>, look: @escaping @Sendable () -> Void) -> Data {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
        _ = bytes.initializeMemory(as: UInt8.self, repeating: 0)
        nonisolated(unsafe) let owned = bytes
        guard let start = bytes.baseAddress else { return Data() }
        return Data(
            bytesNoCopy: start, count: bytes.count,
            deallocator: .custom { _, _ in
                perform(look, noting: didLook)
                owned.deallocate()
            })
    }

    /// On another thread, so that a lock that is held fails the test and does not block it.
    private static func perform(_ look: @escaping @Sendable () -> Void, noting didLook: Deferred<Bool>) {
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue(label: "looking back").async {
            look()
            isDone.signal()
        }
        didLook.fulfill(isDone.wait(timeout: .now() + 5) == .success)
    }
}
