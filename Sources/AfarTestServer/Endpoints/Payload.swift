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
        let validators = Validators(entityTag: "\"range-\(count)\"", lastModified: 1_700_000_000)
        if let answer = validators.answer(to: request) { return answer }
        var response: ServerResponse
        switch validators.allowRange(in: request) ? ByteRange(request.headers["Range"], length: count) : .whole {
        case .whole:
            response = Self.response(status: 200, range: 0..<count)
        case .part(let part):
            response = Self.response(status: 206, range: part)
                .adding("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)")
        case .none:
            response = .text("no such range\n", status: 416).adding("Content-Range", "bytes */\(count)")
        }
        response.headers.append("Accept-Ranges", "bytes")
        return validators.added(to: response)
    }

    private static func response(status: Int, range: Range<Int>) -> ServerResponse {
        let headers: ServerHeaders = ["Content-Type": "application/octet-stream"]
        return ServerResponse(status: status, headers: headers, length: range.count) { body in
            // A multiple of the pattern's 26, so that every block but the last is the same.
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 65_520) {
                try body.write(PatternBytes.bytes(start..<min(start + 65_520, range.upperBound)))
            }
        }
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
