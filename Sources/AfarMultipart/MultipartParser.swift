public import Foundation

/// Limits on a multipart body. A body that exceeds a limit fails with a ``MultipartError``.
public struct MultipartLimits: Hashable, Sendable {
    /// The maximum number of parts. The default is 1,000.
    public var maximumParts = 1_000
    /// The maximum number of bytes before the first part. They are ignored (RFC 2046, section 5.1.1). The default is 64 KiB.
    public var maximumPreambleSize = 64 * 1024
    /// The maximum size of the header fields of a part, in bytes. The default is 16 KiB.
    public var maximumHeaderSize = 16 * 1024
    /// The maximum size of the body of a part, in bytes. The default is nil: no limit.
    public var maximumPartSize: Int64?

    /// Creates the default limits.
    public init() {}
}

/// An error in a multipart body, or in the content type that describes it.
public struct MultipartError: Error, Hashable, Sendable {
    /// The kind of an error.
    public enum Kind: Hashable, Sendable {
        /// The content type isn't `multipart`, or has no valid `boundary`.
        case invalidContentType
        /// The body ends before its last delimiter.
        case incomplete
        /// The bytes before the first part exceed ``MultipartLimits/maximumPreambleSize``.
        case preambleTooLarge
        /// The header fields of a part are malformed.
        case invalidHeader
        /// The body has more than ``MultipartLimits/maximumParts`` parts.
        case tooManyParts
        /// The header fields of a part exceed ``MultipartLimits/maximumHeaderSize``.
        case headerTooLarge
        /// The body of a part exceeds ``MultipartLimits/maximumPartSize``.
        case partTooLarge
    }

    /// The kind of the error.
    public let kind: Kind
    /// The number of the part with the error, starting at 1. If the error isn't in a part, the number of parts before the error.
    public let part: Int
}

extension MultipartError: LocalizedError, CustomStringConvertible {
    /// A human-readable description of the error.
    public var description: String {
        switch kind {
        case .invalidContentType:
            "The body can't be read as parts: its content type is not multipart with a boundary of 1 to 70 characters."
        case .incomplete: "The multipart body ends in part \(part), before its last delimiter."
        case .preambleTooLarge: "The text before the first part of the multipart body exceeds its limit."
        case .invalidHeader: "The header of part \(part) of the multipart body is malformed."
        case .tooManyParts: "The multipart body has more parts than the limit permits: \(part)."
        case .headerTooLarge: "The header of part \(part) of the multipart body exceeds its limit."
        case .partTooLarge: "Part \(part) of the multipart body exceeds its limit."
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

/// Parses a multipart body (RFC 2046, section 5.1) that arrives in chunks. A chunk can end at any byte. The parser performs no I/O.
public struct MultipartParser: Sendable {
    /// A piece of a multipart body.
    public enum Event: Hashable, Sendable {
        /// The header fields of the next part.
        case header(MultipartHeader)
        /// Bytes of the part's body, never empty.
        case data(Data)
        /// The end of the part.
        case end
    }

    private enum State: Equatable {
        /// Skips the bytes before the first delimiter.
        case preamble
        /// Reads the rest of a delimiter's line.
        case delimiter
        case header
        case body
        /// Ignores the bytes after the last delimiter.
        case epilogue
    }

    private static let lineEnd = Data("\r\n".utf8)
    private static let headerEnd = Data("\r\n\r\n".utf8)

    /// A line end, two hyphens and the boundary.
    private let delimiter: Data
    private let limits: MultipartLimits
    private var state = State.preamble
    /// The error in the bytes parsed so far, if any. ``parse(_:)`` returns the events before the error. The next call throws it.
    public private(set) var failure: MultipartError?
    private var partCount = 0
    private var partSize: Int64 = 0
    // The line end before the first delimiter can be missing, so the buffer begins with a line end. `preambleSize` doesn't count it.
    private var preambleSize = -lineEnd.count
    private var buffer = lineEnd

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - contentType: The value of the header field `Content-Type`, such as `multipart/mixed; boundary=x`.
    ///   - limits: The limits on the body.
    /// - Throws: ``MultipartError`` with ``MultipartError/Kind/invalidContentType``.
    public init(contentType: String, limits: MultipartLimits = MultipartLimits()) throws(MultipartError) {
        let parameters = FieldParameters(contentType)
        guard parameters.value.lowercased().hasPrefix("multipart/"), let boundary = parameters["boundary"],
            (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }),
            boundary.last != " "
        else { throw MultipartError(kind: .invalidContentType, part: 0) }
        delimiter = Data("\r\n--\(boundary)".utf8)
        self.limits = limits
    }

    /// A Boolean value that indicates whether the last delimiter has been parsed. The parser ignores the bytes after it (RFC 2046,
    /// section 5.1.1), so no further events follow.
    public var isComplete: Bool { state == .epilogue }

    /// Parses the next bytes of the body.
    ///
    /// If events precede an error in the data, this method returns the events, and sets ``failure`` to the error.
    ///
    /// - Throws: ``MultipartError``. After an error, you can't use the parser.
    public mutating func parse(_ data: Data) throws(MultipartError) -> [Event] {
        if let failure { throw failure }
        guard state != .epilogue else { return [] }
        buffer += data
        var events: [Event] = []
        do throws(MultipartError) {
            while try step(&events) {}
        } catch {
            (failure, buffer) = (error, Data())
            guard !events.isEmpty else { throw error }
        }
        // Slices would retain all bytes.
        if buffer.startIndex > 0 { buffer = Data(buffer) }
        return events
    }

    /// Ends the body.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Kind/incomplete`` if the last delimiter is missing, or the ``failure``.
    public func finish() throws(MultipartError) {
        if let failure { throw failure }
        guard state == .epilogue else { throw MultipartError(kind: .incomplete, part: partCount) }
    }

    /// Performs one step of parsing. Returns false if it needs more bytes.
    private mutating func step(_ events: inout [Event]) throws(MultipartError) -> Bool {
        switch state {
        case .preamble, .body: return try stepToDelimiter(&events)
        case .delimiter:
            if buffer.starts(with: "--".utf8) {
                (state, buffer) = (.epilogue, Data())
                return false
            }
            // White space can follow the boundary.
            let rest = buffer.drop { $0 == 0x20 || $0 == 0x09 }
            guard rest.startIndex - buffer.startIndex <= limits.maximumHeaderSize else {
                throw MultipartError(kind: .headerTooLarge, part: partCount + 1)
            }
            guard rest.count >= 2 else { return false }
            guard rest.starts(with: Self.lineEnd) else {
                // The bytes start like a delimiter but aren't one.
                throw MultipartError(kind: .invalidHeader, part: partCount + 1)
            }
            guard partCount < limits.maximumParts else { throw MultipartError(kind: .tooManyParts, part: partCount) }
            // A part without header fields begins with an empty line. Keep the preceding line end, so that `headerEnd` matches.
            (state, partCount, partSize, buffer) = (.header, partCount + 1, 0, rest)
            return true
        case .header:
            let end = buffer.range(of: Self.headerEnd)
            let size = end.map { $0.lowerBound - buffer.startIndex } ?? buffer.count - Self.headerEnd.count
            guard size <= limits.maximumHeaderSize else {
                throw MultipartError(kind: .headerTooLarge, part: partCount)
            }
            guard let end else { return false }
            guard let header = MultipartHeader(buffer[..<end.lowerBound].dropFirst(2)) else {
                throw MultipartError(kind: .invalidHeader, part: partCount)
            }
            events.append(.header(header))
            // In an empty body, the delimiter directly follows the empty line. The line end of the empty line then also begins the
            // delimiter.
            (state, buffer) = (.body, buffer[(end.upperBound - 2)...])
            partSize = -2
            return true
        case .epilogue: return false
        }
    }

    /// Consumes the bytes before the next delimiter. Adds an event if the bytes belong to a part's body.
    private mutating func stepToDelimiter(_ events: inout [Event]) throws(MultipartError) -> Bool {
        let found = buffer.range(of: delimiter)
        // The end of the buffer can be the beginning of a delimiter.
        let end = found?.lowerBound ?? max(buffer.startIndex, buffer.endIndex - delimiter.count + 1)
        try pass(buffer[..<end], to: &events)
        guard let found else {
            buffer = buffer[end...]
            return false
        }
        if state == .body { events.append(.end) }
        (state, buffer) = (.delimiter, buffer[found.upperBound...])
        return true
    }

    private mutating func pass(_ bytes: Data, to events: inout [Event]) throws(MultipartError) {
        if state == .preamble {
            preambleSize += bytes.count
            guard preambleSize <= limits.maximumPreambleSize else {
                throw MultipartError(kind: .preambleTooLarge, part: 0)
            }
        }
        guard state == .body, !bytes.isEmpty else { return }
        // The line end of the empty line after the header doesn't belong to the body.
        let skipped = min(bytes.count, Int(max(0, -partSize)))
        partSize += Int64(bytes.count)
        if let maximum = limits.maximumPartSize, partSize > maximum {
            throw MultipartError(kind: .partTooLarge, part: partCount)
        }
        let content = bytes.dropFirst(skipped)
        if !content.isEmpty { events.append(.data(Data(content))) }
    }
}
