public import Foundation

/// Responses of any size. No response is ever completely in memory.
enum Payload {
    private static let blockSize = 1 << 16

    static func random(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("n")
        let seed: UInt64 = try request.number("seed", in: 0 ... .max, default: 0)
        return ServerResponse(headers: ["Content-Type": "application/octet-stream"], length: count) { body in
            var generator = PseudoRandomBytes(seed: seed)
            var remaining = count
            while remaining > 0 {
                try body.write(generator.next(min(remaining, blockSize)))
                remaining -= min(remaining, blockSize)
            }
        }
    }

    static func pattern(_ request: ServerRequest) throws -> ServerResponse {
        response(status: 200, range: 0..<(try request.count("n")))
    }

    static func range(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("n")
        let seed: UInt64? = try request.argument("seed").map { _ in try request.number("seed", in: 0 ... .max) }
        let interruption = try Interruption(of: request)
        let tag = seed.map { "\"range-\(count)-\($0)\"" } ?? "\"range-\(count)\""
        let validators = Validators(entityTag: tag, lastModified: 1_700_000_000)
        if let answer = validators.answer(to: request) { return answer }
        var response: ServerResponse
        switch validators.allowRange(in: request) ? ByteRange(request.headers["Range"], length: count) : .whole {
        case .whole:
            response = Self.response(status: 200, range: 0..<count, seed: seed, interruption)
        case .part(let part):
            response = Self.response(status: 206, range: part, seed: seed, interruption)
                .adding("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)")
        case .none:
            response = .text("no such range\n", status: 416).adding("Content-Range", "bytes */\(count)")
        }
        response.headers.append("Accept-Ranges", "bytes")
        return validators.added(to: response)
    }

    /// - Parameter seed: The seed of the ``PseudoRandomBytes`` to send; nil to send ``PatternBytes``.
    private static func response(
        status: Int, range: Range<Int>, seed: UInt64? = nil, _ interruption: Interruption = Interruption()
    ) -> ServerResponse {
        let headers: ServerHeaders = ["Content-Type": "application/octet-stream"]
        return ServerResponse(status: status, headers: headers, length: range.count) { body in
            let end = interruption.end(of: range)
            // The step is a multiple of the pattern's 26 bytes, so all full blocks are equal.
            for start in stride(from: range.lowerBound, to: end, by: 65_520) {
                let block = start..<min(start + 65_520, end)
                try body.write(seed.map { PseudoRandomBytes.bytes(block, seed: $0) } ?? PatternBytes.bytes(block))
            }
            if end < range.upperBound, interruption.keepsConnection { try body.wait(seconds: 86_400) }
        }
    }
}

/// Offsets in a file at which the transfer ends early. The transfer of a range ends at the lowest offset after the start of the
/// range.
private struct Interruption: Sendable {
    private var offsets: [Int] = []
    /// Whether the connection stays open.
    private(set) var keepsConnection = false

    init() {}

    init(of request: ServerRequest) throws {
        let (cuts, stalls) = (request.argument("cuts"), request.argument("stalls"))
        keepsConnection = cuts == nil
        offsets = try (cuts ?? stalls ?? "").split(separator: ",").map { text in
            guard let offset = Int(text) else { throw BadArgument(reason: "\(text) is not an offset") }
            return offset
        }
    }

    func end(of range: Range<Int>) -> Int {
        offsets.filter(range.dropFirst().contains).min() ?? range.upperBound
    }
}

/// The range that a Range header requests. If the header is invalid or requests several ranges, the response contains the whole body.
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    case none

    init(_ header: String?, length: Int) {
        self = .whole
        guard let header, header.hasPrefix("bytes="), !header.contains(",") else { return }
        let ends = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?) where first <= last:
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .none
        case (let first?, nil) where ends[1].isEmpty:
            self = first < length ? .part(first..<length) : .none
        case (nil, let count?) where ends[0].isEmpty && count >= 0:
            self = count > 0 && length > 0 ? .part(max(0, length - count)..<length) : .none
        default:
            return
        }
    }
}

/// Responses that take time or are sent in pieces.
enum Streams {
    static func delay(_ request: ServerRequest) throws -> ServerResponse {
        var response = try Echo.answer(request)
        response.delay = try request.seconds("seconds")
        return response
    }

    static func drip(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("bytes", default: 10)
        let seconds = try request.seconds("seconds", default: 1)
        // Pauses below 5 ms would be inaccurate, so several bytes are sent at once instead.
        let steps = max(1, min(count, Int(seconds / 0.005)))
        return ServerResponse(headers: ["Content-Type": "application/octet-stream"]) { body in
            for step in 0..<steps {
                try body.wait(seconds: seconds / Double(steps))
                try body.write(PatternBytes.bytes((count * step / steps)..<(count * (step + 1) / steps)))
            }
        }
    }

    static func chunks(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("n")
        return ServerResponse(headers: ["Content-Type": "text/plain; charset=utf-8"]) { body in
            for index in 0..<count { try body.write("chunk \(index)\n") }
        }
    }

    static func lines(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("n")
        return ServerResponse(headers: ["Content-Type": "application/x-ndjson"]) { body in
            for index in 0..<count { try body.write(#"{"id":\#(index),"text":"line \#(index)"}"# + "\n") }
        }
    }

    static func events(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("n")
        let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
        guard count > 0, last >= 0, last < count else { return ServerResponse(status: 204) }
        return ServerResponse(headers: ["Content-Type": "text/event-stream"]) { body in
            for id in (last + 1)...count { try body.write("event: tick\nid: \(id)\ndata: event \(id)\n\n") }
        }
    }
}

/// The bytes of `/large/{n}` and `/range/{n}`: the letters a to z repeated, so byte i is letter i modulo 26.
public enum PatternBytes {
    /// Returns the bytes at a range of offsets. There are no bytes before offset 0.
    public static func bytes(_ range: Range<Int>) -> Data {
        let range = range.clamped(to: 0..<Int.max)
        var data = Data(capacity: range.count)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let start = offset % 26
            let count = min(block.count - start, range.upperBound - offset)
            data.append(block.subdata(in: start..<(start + count)))
            offset += count
        }
        return data
    }

    /// Returns the first bytes, or no bytes if the count is negative.
    public static func bytes(_ count: Int) -> Data {
        bytes(0..<max(0, count))
    }

    /// A block whose length is a multiple of 26.
    private static let block = Data(Array(repeating: UInt8(ascii: "a")...UInt8(ascii: "z"), count: 2520).joined())
}

/// The infinite sequence of bytes of `/bytes/{n}?seed=S`. Equal seeds have equal sequences.
///
/// The bytes are the outputs of SplitMix64 in little-endian order. The state begins with the seed and grows by `9e3779b97f4a7c15`
/// for each output. The output is the state after two rounds of mixing by xor-shift and multiplication.
public struct PseudoRandomBytes: Sendable {
    private var state: UInt64
    private var buffered: [UInt8] = []

    /// Creates the sequence that a seed determines.
    public init(seed: UInt64 = 0) {
        state = seed
    }

    /// Returns the first bytes of a seed's sequence, or no bytes if the count is negative.
    public static func bytes(_ count: Int, seed: UInt64 = 0) -> Data {
        var generator = PseudoRandomBytes(seed: seed)
        return generator.next(count)
    }

    /// Returns the bytes at a range of offsets in a seed's sequence. There are no bytes before offset 0.
    public static func bytes(_ range: Range<Int>, seed: UInt64 = 0) -> Data {
        let range = range.clamped(to: 0..<Int.max)
        let word = range.lowerBound / 8
        var generator = PseudoRandomBytes(seed: seed &+ UInt64(word) &* increment)
        return Data(generator.next(range.upperBound - word * 8).dropFirst(range.lowerBound - word * 8))
    }

    /// Returns the next bytes, or no bytes if the count is negative. The sizes of earlier calls don't affect the sequence.
    public mutating func next(_ count: Int) -> Data {
        let count = max(0, count)
        var data = Data(buffered.prefix(count))
        buffered.removeFirst(data.count)
        let words = (count - data.count + 7) / 8
        var fresh = [UInt64](repeating: 0, count: words)
        for index in fresh.indices { fresh[index] = nextWord().littleEndian }
        fresh.withUnsafeBytes { bytes in
            let taken = count - data.count
            data.append(contentsOf: bytes.prefix(taken))
            buffered += bytes.dropFirst(taken)
        }
        return data
    }

    private static let increment: UInt64 = 0x9e37_79b9_7f4a_7c15

    private mutating func nextWord() -> UInt64 {
        state &+= Self.increment
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}
