/// Leaves out paths that equal the one before, as this consumer sees it: between two that it takes, others may have been
/// replaced by newer ones.
final class DistinctPaths: @unchecked Sendable {
    // Sendable because a stream has one consumer, which takes one path at a time.
    private var iterator: AsyncStream<NetworkPath>.Iterator
    private var last: NetworkPath?

    init(_ stream: AsyncStream<NetworkPath>) { iterator = stream.makeAsyncIterator() }

    func next() async -> NetworkPath? {
        while let path = await iterator.next() {
            if path == last { continue }
            last = path
            return path
        }
        return nil
    }
}
