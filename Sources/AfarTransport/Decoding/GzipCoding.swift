/// The coding gzip: one or more members, and perhaps zeros after the last (RFC 1952, section 2.2).
final class GzipCoding: ContentCoding {
    private enum State {
        case start
        case member
        case betweenMembers
        case padding
    }

    private let stream: ZlibStream
    private var state = State.start

    init?() {
        guard let stream = ZlibStream(windowBits: 31) else { return nil }
        self.stream = stream
    }

    var isComplete: Bool { state != .member }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingFailure) -> Int {
        var count = 0
        while true {
            switch state {
            case .start:
                guard !input.isEmpty else { return count }
                state = .member
            case .member:
                guard try stream.inflate(&input, into: output, count: &count) else { return count }
                state = .betweenMembers
            case .betweenMembers:
                guard let byte = input.first else { return count }
                guard byte != 0 else {
                    state = .padding
                    continue
                }
                guard byte == 0x1F else { throw .excess }
                stream.reset()
                state = .member
            case .padding:
                guard input.allSatisfy({ $0 == 0 }) else { throw .excess }
                input.removeFirst(input.count)
                return count
            }
        }
    }
}
