public import AfarCore
public import Foundation

/// A parser that decodes a value from each line of a streamed response: newline-delimited JSON, also called JSON Lines.
///
/// Lines end with LF or CR LF. The last line doesn't need a line ending. The parser skips lines that contain only white space,
/// and a byte-order mark at the beginning of the body. For a line that can't be decoded, the parser returns a failure with a
/// ``JSONStreamError``. It then continues with the next line.
public struct JSONLinesParser<T: Decodable & Sendable>: DataStreamParser {
    /// The decoder to use. The default is a ``SessionDecoder``, which stands for the session's decoder.
    public let decoder: any DataDecoder
    /// The maximum length of a line in bytes.
    public var maximumLineLength: Int { lines.maximumLength }
    private var lines: LineSplitter
    private var number = 0

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - maximumLineLength: The maximum length of a line in bytes. A longer line is discarded and reported as
    ///     ``JSONStreamError/Reason/tooLong(limit:)``. The default is 1 MiB.
    public init(
        decoder: any DataDecoder = SessionDecoder(),
        maximumLineLength: Int = JSONLinesParser.defaultMaximumLineLength
    ) {
        self.decoder = decoder
        lines = LineSplitter(maximumLength: maximumLineLength)
    }

    /// The default maximum length of a line, 1 MiB.
    public static var defaultMaximumLineLength: Int { 1 << 20 }

    /// Returns the values of the lines that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<T, AFError>] {
        lines.split(chunk).compactMap { decode($0) }
    }

    /// Returns the value of the last line if no line ending follows it.
    public mutating func finish() -> [Result<T, AFError>] {
        lines.finish().flatMap { decode($0) }.map { [$0] } ?? []
    }

    private mutating func decode(_ line: LineSplitter.Line) -> Result<T, AFError>? {
        number += 1
        guard case .whole(let bytes) = line else {
            return .failure(JSONStreamError(.tooLong(limit: maximumLineLength), .line, number).asAFError)
        }
        let json = number == 1 ? bytes.withoutByteOrderMark : bytes
        guard !json.allSatisfy(\.isJSONWhiteSpace) else { return nil }
        return decoder.decode(json, as: T.self, .line, number)
    }
}

extension DataStreamParser {
    /// Returns a parser that decodes a value from each line.
    public static func jsonLines<T: Decodable & Sendable>(
        of type: T.Type,
        decoder: any DataDecoder = SessionDecoder(),
        maximumLineLength: Int = JSONLinesParser<T>.defaultMaximumLineLength
    ) -> Self where Self == JSONLinesParser<T> {
        JSONLinesParser(decoder: decoder, maximumLineLength: maximumLineLength)
    }
}

/// Splits a body into lines regardless of chunk boundaries. Lines end with LF or CR LF, and the last line can end with the body.
struct LineSplitter: Sendable {
    enum Line: Equatable, Sendable {
        /// A line without its terminator.
        case whole(Data)
        /// A discarded line that exceeds the maximum length.
        case tooLong
    }

    /// The maximum length of a line in bytes.
    let maximumLength: Int
    /// The beginning of a line that isn't complete.
    private var partial = Data()
    /// Whether to discard the rest of the current line.
    private var isSkipping = false

    init(maximumLength: Int) { self.maximumLength = maximumLength }

    /// Returns the lines that a chunk completes, and reports a line as soon as it becomes too long.
    mutating func split(_ chunk: Data) -> [Line] {
        var lines: [Line] = []
        var rest = chunk[...]
        while let end = rest.firstLineFeed {
            add(rest[..<end], to: &lines)
            if !isSkipping { lines.append(takeLine()) }
            isSkipping = false
            rest = rest[(end + 1)...]
        }
        add(rest, to: &lines)
        return lines
    }

    /// Returns the last line if no line ending follows it.
    mutating func finish() -> Line? { partial.isEmpty ? nil : takeLine() }

    private mutating func add(_ bytes: Data, to lines: inout [Line]) {
        guard !isSkipping else { return }
        partial += bytes
        // The additional byte can be the CR of the terminator.
        guard partial.count - 1 > maximumLength else { return }
        partial = Data()
        isSkipping = true
        lines.append(.tooLong)
    }

    private mutating func takeLine() -> Line {
        defer { partial = Data() }
        let line = partial.last == UInt8(ascii: "\r") ? Data(partial.dropLast()) : partial
        return line.count > maximumLength ? .tooLong : .whole(line)
    }
}

extension Data {
    /// The index of the first LF.
    fileprivate var firstLineFeed: Index? {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let found = memchr(start, 0x0A, bytes.count) else { return nil }
            return startIndex + (UnsafeRawPointer(found) - start)
        }
    }
}

/// A parser that decodes the values of a JSON text sequence (RFC 7464, `application/json-seq`).
///
/// Each value begins with a record separator (RS, U+001E) and ends with a line feed. A byte-order mark before the first
/// separator is skipped.
///
/// A value is returned as soon as its line feed arrives. For a value that is incomplete or can't be decoded, the parser returns
/// a failure with a ``JSONStreamError``. It then continues after the next separator.
public struct JSONTextSequenceParser<T: Decodable & Sendable>: DataStreamParser {
    /// The decoder to use. The default is a ``SessionDecoder``, which stands for the session's decoder.
    public let decoder: any DataDecoder
    /// The maximum length of a value in bytes.
    public let maximumLength: Int
    private var record = JSONRecord()
    private var number = 0
    private var state = State.beginning(bytesOfMark: 0)

    private enum State {
        /// At the beginning. The associated value is the number of bytes read of a byte-order mark.
        case beginning(bytesOfMark: Int)
        case inRecord
        /// After a value, where only white space and a separator are allowed.
        case betweenRecords
        /// After a reported error. Bytes up to the next separator are skipped.
        case skipping
    }

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - decoder: The decoder to use. The default is the session's decoder.
    ///   - maximumLength: The maximum length of a value in bytes. A longer value is discarded and reported as
    ///     ``JSONStreamError/Reason/tooLong(limit:)``. The default is 1 MiB.
    public init(
        decoder: any DataDecoder = SessionDecoder(),
        maximumLength: Int = JSONTextSequenceParser.defaultMaximumLength
    ) {
        self.decoder = decoder
        self.maximumLength = maximumLength
    }

    /// The default maximum length of a value, 1 MiB.
    public static var defaultMaximumLength: Int { 1 << 20 }

    /// Returns the values that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<T, AFError>] {
        var results: [Result<T, AFError>] = []
        for byte in chunk {
            if let result = take(byte) { results.append(result) }
        }
        return results
    }

    /// Returns the last value, if no line feed follows it.
    public mutating func finish() -> [Result<T, AFError>] {
        endOfRecord().map { [$0] } ?? []
    }

    private mutating func take(_ byte: UInt8) -> Result<T, AFError>? {
        if byte == JSONRecord.separator {
            let result = endOfRecord()
            number += 1
            state = .inRecord
            return result
        }
        switch state {
        case .skipping: return nil
        case .beginning(let count):
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            guard byte != mark[count] else {
                state = count < 2 ? .beginning(bytesOfMark: count + 1) : .betweenRecords
                return nil
            }
            state = .betweenRecords
            return count == 0 ? take(byte) : failure(.outsideOfRecord)
        case .betweenRecords:
            guard !byte.isJSONWhiteSpace else { return nil }
            return failure(.outsideOfRecord)
        case .inRecord:
            let isEnd = byte == UInt8(ascii: "\n") && record.isComplete
            guard isEnd || record.bytes.count < maximumLength else { return failure(.tooLong(limit: maximumLength)) }
            record.append(byte)
            return isEnd ? endOfRecord() : nil
        }
    }

    private mutating func endOfRecord() -> Result<T, AFError>? {
        guard case .inRecord = state else { return nil }
        defer { record = JSONRecord() }
        state = .betweenRecords
        guard !record.isBlank else { return nil }
        guard !record.isPossiblyTruncated else {
            return .failure(JSONStreamError(.possiblyTruncated, .record, number).asAFError)
        }
        return decoder.decode(record.bytes, as: T.self, .record, number)
    }

    private mutating func failure(_ reason: JSONStreamError.Reason) -> Result<T, AFError> {
        record = JSONRecord()
        state = .skipping
        return .failure(JSONStreamError(reason, .record, max(number, 1)).asAFError)
    }
}

extension DataStreamParser {
    /// Returns a parser that decodes the values of a JSON text sequence.
    public static func jsonTextSequence<T: Decodable & Sendable>(
        of type: T.Type,
        decoder: any DataDecoder = SessionDecoder(),
        maximumLength: Int = JSONTextSequenceParser<T>.defaultMaximumLength
    ) -> Self where Self == JSONTextSequenceParser<T> {
        JSONTextSequenceParser(decoder: decoder, maximumLength: maximumLength)
    }
}

/// The bytes of one value in a JSON text sequence, collected as they arrive. This type detects when the value is complete but
/// doesn't validate it.
struct JSONRecord: Sendable {
    /// The record separator, which begins a record (RFC 7464, section 2.2).
    static let separator: UInt8 = 0x1E

    private(set) var bytes = Data()
    private var first: UInt8?
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// Whether the record contains only white space.
    var isBlank: Bool { first == nil }

    /// Whether all brackets and quotation marks are closed.
    var isComplete: Bool { !isBlank && depth <= 0 && !isInString }

    /// Whether this is a number or literal without trailing white space. Such a value might be truncated.
    var isPossiblyTruncated: Bool {
        guard let first, let last = bytes.last, !last.isJSONWhiteSpace else { return false }
        return first != UInt8(ascii: "{") && first != UInt8(ascii: "[") && first != UInt8(ascii: "\"")
    }

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
        if first == nil, !byte.isJSONWhiteSpace { first = byte }
        if isEscaped {
            isEscaped = false
        } else if isInString {
            isEscaped = byte == UInt8(ascii: "\\")
            isInString = byte != UInt8(ascii: "\"")
        } else {
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
    }
}

/// An error that identifies an invalid value in a JSON stream. Later values can still be read.
///
/// This error is the `underlyingError` of an ``AFError/responseSerializationFailed(reason:)``. For ``Reason/undecodable(_:)``,
/// the reason of the `AFError` is ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)``. Otherwise, it is
/// ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)``.
public struct JSONStreamError: Error, Sendable {
    /// The reason that a value can't be read.
    public enum Reason: Sendable {
        /// The value was longer than the maximum length, and was discarded. The associated value is the maximum length
        /// in bytes.
        case tooLong(limit: Int)
        /// The value is invalid JSON or doesn't match the requested type. The associated value is the decoder's error.
        case undecodable(any Error)
        /// A number, `true`, `false` or `null` lacks trailing white space and might therefore be truncated (RFC 7464,
        /// section 2.4).
        case possiblyTruncated
        /// The stream contains bytes before the first record separator or after the end of a value (RFC 7464, section
        /// 2.1).
        case outsideOfRecord
    }

    /// The delimiter of the values in a stream.
    public enum Framing: String, Sendable {
        /// Each line is a value.
        case line
        /// A record separator (RS, U+001E) begins each value.
        case record
    }

    /// The reason that the value can't be read.
    public let reason: Reason
    /// The delimiter of the values in this stream.
    public let framing: Framing
    /// The number of the line or record. The first is 1. Empty lines count.
    public let number: Int

    /// Creates an error.
    public init(reason: Reason, framing: Framing, number: Int) {
        self.reason = reason
        self.framing = framing
        self.number = number
    }
}

extension JSONStreamError: LocalizedError, CustomStringConvertible {
    /// A description of the problem, its position and a solution.
    public var description: String {
        let place = "\(framing.rawValue.capitalized) \(number) of the stream"
        return switch reason {
        case .tooLong(let limit):
            "\(place) has more than \(limit) bytes. If this is expected, increase the maximum length."
        case .undecodable(let error): "\(place) could not be decoded: \(TerminalText.line("\(error)"))"
        case .possiblyTruncated: "\(place) lacks white space at its end and can be truncated."
        case .outsideOfRecord: "\(place) has bytes outside of a value. Is it a JSON text sequence (RFC 7464)?"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension JSONStreamError {
    init(_ reason: Reason, _ framing: Framing, _ number: Int) {
        self.init(reason: reason, framing: framing, number: number)
    }

    var asAFError: AFError {
        if case .undecodable = reason { return .responseSerializationFailed(reason: .decodingFailed(error: self)) }
        return .responseSerializationFailed(reason: .customSerializationFailed(error: self))
    }
}

extension DataDecoder {
    /// Returns the value of a line or a record.
    func decode<T: Decodable & Sendable>(
        _ json: Data, as type: T.Type, _ framing: JSONStreamError.Framing, _ number: Int
    ) -> Result<T, AFError> {
        do {
            return .success(try decodeChecked(type, from: json, of: nil))
        } catch {
            return .failure(JSONStreamError(.undecodable(error), framing, number).asAFError)
        }
    }
}
