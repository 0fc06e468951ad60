package import Foundation

/// Bytes that grow by doubling and end as a `Data` without being copied.
package final class GrowingBuffer {
    /// A declared length is believed up to here; beyond, memory grows with what really arrives.
    private static let largestReservation = 16 * 1024 * 1024

    private var start: UnsafeMutableRawPointer?
    private var capacity = 0
    package private(set) var count = 0

    package init() {}

    deinit { free(start) }

    package func reserve(_ length: Int) {
        _ = grow(to: min(length, Self.largestReservation))
    }

    /// The reserved memory for the next bytes, which can be read into it before they are appended; nil if nothing is reserved.
    package var room: UnsafeMutableRawBufferPointer? {
        start.map { UnsafeMutableRawBufferPointer(start: $0 + count, count: capacity - count) }
    }

    /// Copies bytes, unless they are the first of ``room``. Returns false when memory ran out.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return true }
        let needed = count + bytes.count
        if needed > capacity {
            guard grow(to: max(needed, capacity * 2, 1024)) else { return false }
        }
        guard let start else { return false }
        if source != start + count { memcpy(start + count, source, bytes.count) }
        count = needed
        return true
    }

    package func take() -> Data {
        guard let start, count > 0 else { return Data() }
        defer { (self.start, capacity, count) = (nil, 0, 0) }
        if capacity > count * 2, let trimmed = realloc(start, count) {
            return Data(bytesNoCopy: trimmed, count: count, deallocator: .free)
        }
        return Data(bytesNoCopy: start, count: count, deallocator: .free)
    }

    private func grow(to newCapacity: Int) -> Bool {
        guard newCapacity > capacity else { return true }
        guard let moved = realloc(start, newCapacity) else { return false }
        start = moved
        capacity = newCapacity
        return true
    }
}
