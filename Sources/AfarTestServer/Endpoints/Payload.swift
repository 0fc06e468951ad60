import Foundation

/// Answers of any size, none of which is held in memory.
enum Payload {
    private static let blockSize = 1 << 16

    static func random(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.count("n")
        let seed: UInt64 = try request.number("seed", in: 0 ... .max, default: 0)
        return ServerResponse(headers: ["Content-Type": "application/octet-stream"], length: count) { body in
            var generator = PseudoRandomBytes(seed: seed)
            var left = count
            while left > 0 {
                try body.write(generator.next(min(left, blockSize)))
                left -= min(left, blockSize)
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

    /// - Parameter seed: Of pseudo-random bytes; nil for the pattern.
    private static func response(
        status: Int, range: Range<Int>, seed: UInt64? = nil, _ interruption: Interruption = Interruption()
    ) -> ServerResponse {
        let headers: ServerHeaders = ["Content-Type": "application/octet-stream"]
        return ServerResponse(status: status, headers: headers, length: range.count) { body in
            let end = interruption.end(of: range)
            // A multiple of the pattern's 26, so that every block but the last is the same.
            for start in stride(from: range.lowerBound, to: end, by: 65_520) {
                let block = start..<min(start + 65_520, end)
                try body.write(seed.map { PseudoRandomBytes.bytes(block, seed: $0) } ?? PatternBytes.bytes(block))
            }
            if end < range.upperBound, interruption.isSilence { try body.wait(seconds: 86_400) }
        }
    }
}

/// Offsets of a file at which its transfer ends early: of those in a range the first behind its start.
private struct Interruption: Sendable {
    private var offsets: [Int] = []
    /// Whether the connection stays open.
    private(set) var isSilence = false

    init() {}

    init(of request: ServerRequest) throws {
        let (cuts, stalls) = (request.argument("cuts"), request.argument("stalls"))
        isSilence = cuts == nil
        offsets = try (cuts ?? stalls ?? "").split(separator: ",").map { text in
            guard let offset = Int(text) else { throw BadArgument(reason: "\(text) is no offset") }
            return offset
        }
    }

    func end(of range: Range<Int>) -> Int {
        offsets.filter(range.dropFirst().contains).min() ?? range.upperBound
    }
}

/// What a Range header asks for; several ranges and what is not understood ask for the whole.
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
