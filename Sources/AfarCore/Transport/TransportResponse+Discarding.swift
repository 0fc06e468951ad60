extension TransportResponse {
    /// Gets rid of a body that nobody wants. Returns what was measured in all.
    ///
    /// - Parameter limit: How many bytes of a body that still arrives are read, so that its connection can serve again. A
    ///   longer one is broken off, and its connection with it.
    func discarded(readingUpTo limit: Int64) async -> TransportReport {
        guard case .stream(let stream) = body else { return report }
        var count: Int64 = 0
        var chunks = stream.makeAsyncIterator()
        // A body that breaks off has ended as well.
        while count < limit, let chunk = try? await chunks.next() { count += Int64(chunk.count) }
        if count >= limit { stream.cancel() }
        return await stream.report()
    }
}
