import Foundation

/// A pipe that wakes a thread out of `poll`.
final class Wakeup: Sendable {
    /// Readable from the first `wake` on.
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard SocketPlatform.openPipe(&ends) == 0 else { throw SocketFailure("pipe") }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    func wake() {
        _ = write(writeEnd, [1], 1)
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }
}
