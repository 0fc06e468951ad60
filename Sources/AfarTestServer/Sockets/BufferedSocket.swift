import Foundation

/// Reads a socket through a buffer, by line, by head or by count.
struct BufferedSocket {
    /// How reading up to a terminator can fail.
    enum Failure: Error {
        case truncated
        case tooLong
    }

    let socket: Socket
    /// Sees all bytes as they arrive.
    private let tap: ((UnsafeRawBufferPointer) -> Void)?
    private var storage = [UInt8](repeating: 0, count: 65_536)
    private var unread = 0..<0

    init(_ socket: Socket, tap: ((UnsafeRawBufferPointer) -> Void)? = nil) {
        self.socket = socket
        self.tap = tap
    }

    /// Gives the next bytes, at most `limit`, to `body` and returns how many; 0 is the end of the stream.
    mutating func read(atMost limit: Int, _ body: (UnsafeRawBufferPointer) -> Void = { _ in }) throws -> Int {
        guard try fill() else { return 0 }
        let part = unread.prefix(limit)
        storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[part])) }
        unread = part.endIndex..<unread.upperBound
        return part.count
    }

    /// Returns the bytes up to and including a terminator that ends in a line feed; `nil` at the end of the stream.
    mutating func read(through terminator: [UInt8], limit: Int) throws -> [UInt8]? {
        var result: [UInt8] = []
        while try fill() {
            let line = storage.withUnsafeBytes { bytes in
                UnsafeRawBufferPointer(rebasing: bytes[unread]).firstIndex(of: 10).map { $0 + 1 }
            }
            let part = unread.prefix(line ?? unread.count)
            result += storage[part]
            unread = part.endIndex..<unread.upperBound
            if result.suffix(terminator.count).elementsEqual(terminator) { return result }
            guard result.count < limit else { throw Failure.tooLong }
        }
        guard result.isEmpty else { throw Failure.truncated }
        return nil
    }

    private mutating func fill() throws -> Bool {
        guard unread.isEmpty else { return true }
        let count = try storage.withUnsafeMutableBytes { try socket.read(into: $0) }
        unread = 0..<count
        if let tap, count > 0 {
            storage.withUnsafeBytes { tap(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        return count > 0
    }
}
