import Foundation

/// An encoder that writes the parts of a form (RFC 2046, section 5.1.1).
struct MultipartEncoder: Sendable {
    let boundary: String
    let parts: [MultipartPart]
    /// Called before each piece is written. If it throws, writing ends with that error.
    var checkpoint: @Sendable () throws -> Void = {}

    /// The length of the whole encoded form in bytes.
    var length: UInt64 {
        let frame = parts.indices.map { UInt64(delimiter(before: $0).count) }.reduce(UInt64(end.count), +)
        return parts.reduce(frame) { $0.addingClamped(UInt64($1.head.count)).addingClamped($1.length) }
    }

    /// Returns the whole encoded form in memory.
    func data() throws -> Data {
        var data = Data()
        // Limited, because the specified length can be far more than the actual length.
        data.reserveCapacity(Int(min(length, MultipartFormData.encodingMemoryThreshold)))
        try write { data.append(contentsOf: $0) }
        return data
    }

    /// Writes the form into an open file.
    func write(to descriptor: Int32) throws {
        try write { bytes in
            guard let code = bytes.write(to: descriptor) else { return }
            throw AFError.multipartEncodingFailed(reason: .outputStreamWriteFailed(error: POSIXError(errno: code)))
        }
    }

    private func write(to output: MultipartContent.Sink) throws {
        let sink: MultipartContent.Sink = { piece in
            try checkpoint()
            try output(piece)
        }
        for (index, part) in parts.enumerated() {
            try delimiter(before: index).write(to: sink)
            try part.head.write(to: sink)
            try part.content.write(length: part.length, to: sink)
        }
        try end.write(to: sink)
    }

    private func delimiter(before index: Int) -> Data {
        Data("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n".utf8)
    }

    private var end: Data {
        Data("\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8)
    }
}

extension UInt64 {
    /// Returns the sum, or the maximum on overflow: callers can specify any length.
    func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// The boundary between the parts of a form.
struct MultipartBoundary {
    let text: String

    /// Creates a boundary from a caller's text. Returns nil if RFC 2046, section 5.1.1, doesn't allow it: 1 to 70 characters of a
    /// certain set, the last not a space.
    init?(_ text: String) {
        guard (1...70).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed), text.utf8.last != 0x20 else {
            return nil
        }
        self.text = text
    }

    private init(random text: String) { self.text = text }

    /// Returns an unpredictable boundary, so that no part can deliberately contain it.
    static func random() -> MultipartBoundary {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        return MultipartBoundary(random: "afar.boundary.\(digits.joined())")
    }

    /// The boundary as a header parameter's value, in quotes if RFC 2045, section 5.1, requires them.
    var parameterValue: String { text.isHTTPToken ? text : "\"\(text)\"" }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "'()+_,-./:=? ".utf8.contains(byte)
    }
}
