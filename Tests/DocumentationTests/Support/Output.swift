import AfarCore

/// The samples' output. This module's `print` function shadows the standard library's.
enum Output {
    private struct State {
        var lines: [String] = []
        var readers: [AsyncStream<String>.Continuation] = []
    }

    private static let state = Locked(State())

    /// Returns whether a sample has printed a line, or prints it before the test is canceled.
    static func has(_ line: String) async -> Bool {
        await has(where: { $0 == line })
    }

    /// Returns whether a sample has printed a matching line, or prints one before the test is canceled.
    static func has(where isWanted: (String) -> Bool) async -> Bool {
        let (stream, reader) = AsyncStream.makeStream(of: String.self)
        state.withLock { state in
            for line in state.lines { reader.yield(line) }
            state.readers.append(reader)
        }
        for await line in stream where isWanted(line) { return true }
        return false
    }

    static func append(_ line: String) {
        state.withLock { state in
            state.lines.append(line)
            for reader in state.readers { reader.yield(line) }
        }
    }
}

func print(_ items: Any...) {
    Output.append(items.map { "\($0)" }.joined(separator: " "))
}
