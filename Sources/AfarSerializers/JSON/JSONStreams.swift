public import AfarCore
public import Foundation

/// Decodes a value from each line of a streamed response: newline-delimited JSON, also called JSON Lines.
///
/// Lines end with LF or CR LF, the last one also with the body. Lines of white space are passed over, and so is a
/// byte-order mark at the begin. A line that cannot be decoded is a failure that carries a ``JSONStreamError``; the lines
/// after it are read.
public struct JSONLinesParser<T: Decodable & Sendable>: DataStreamParser {
    /// Decodes.
    public let decoder: any DataDecoder
    /// The bytes that a line may have.
    public var maximumLineLength: Int { lines.maximumLength }
    private var lines: LineSplitter
    private var number = 0

    /// Makes a parser.
    ///
    /// - Parameters:
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - maximumLineLength: The bytes that a line may have; what is longer fails with
    ///     ``JSONStreamError/Reason/tooLong(limit:)`` and is not kept. The default is 1 MiB.
    public init(
        decoder: any DataDecoder = JSONDecoder(),
        maximumLineLength: Int = JSONLinesParser.defaultMaximumLineLength
    ) {
        self.decoder = decoder
        lines = LineSplitter(maximumLength: maximumLineLength)
    }

    /// 1 MiB.
    public static var defaultMaximumLineLength: Int { 1 << 20 }

    /// The values of the lines that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<T, AFError>] {
        lines.split(chunk).compactMap { decode($0) }
    }

    /// The value of the last line, if no line's end came after it.
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
    /// Decodes a value from each line.
    public static func jsonLines<T: Decodable & Sendable>(
        of type: T.Type,
        decoder: any DataDecoder = JSONDecoder(),
        maximumLineLength: Int = JSONLinesParser<T>.defaultMaximumLineLength
    ) -> Self where Self == JSONLinesParser<T> {
        JSONLinesParser(decoder: decoder, maximumLineLength: maximumLineLength)
    }
}

/// Cuts a body into lines, wherever its chunks end. A line ends with LF or CR LF, the last one also with the body.
struct LineSplitter: Sendable {
    enum Line: Equatable, Sendable {
        /// The line without its end.
        case whole(Data)
        /// A line that is longer than allowed; it was not kept.
        case tooLong
    }

    /// The bytes that a line may have.
    let maximumLength: Int
    /// The begin of a line whose rest has not come.
    private var partial = Data()
    /// Whether the rest of the current line is to be passed over.
    private var isPassing = false

    init(maximumLength: Int) { self.maximumLength = maximumLength }

    /// The lines that a chunk completes, and one that has become too long.
    mutating func split(_ chunk: Data) -> [Line] {
        var lines: [Line] = []
        var rest = chunk[...]
        while let end = rest.firstLineFeed {
            add(rest[..<end], to: &lines)
            if !isPassing { lines.append(takeLine()) }
            isPassing = false
            rest = rest[(end + 1)...]
        }
        add(rest, to: &lines)
        return lines
    }

    /// The last line, if the body did not end with a line's end.
    mutating func finish() -> Line? { partial.isEmpty ? nil : takeLine() }

    private mutating func add(_ bytes: Data, to lines: inout [Line]) {
        guard !isPassing else { return }
        partial += bytes
        // One more may be a CR that belongs to the line's end.
        guard partial.count - 1 > maximumLength else { return }
        partial = Data()
        isPassing = true
        lines.append(.tooLong)
    }

    private mutating func takeLine() -> Line {
        defer { partial = Data() }
        let line = partial.last == UInt8(ascii: "\r") ? Data(partial.dropLast()) : partial
        return line.count > maximumLength ? .tooLong : .whole(line)
    }
}

extension Data {
    /// Where the first LF is.
    fileprivate var firstLineFeed: Index? {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let found = memchr(start, 0x0A, bytes.count) else { return nil }
            return startIndex + (UnsafeRawPointer(found) - start)
        }
    }
}

// MARK: - JSON text sequences

/// Decodes the values of a JSON text sequence (RFC 7464, `application/json-seq`): a record separator (RS, U+001E) begins
/// each, a line's end follows it.
///
/// A byte-order mark before the first separator is passed over.
///
/// A value is handed on as soon as the line's end after it has come. One that cannot be decoded, or that breaks off, is a
/// failure that carries a ``JSONStreamError``; the values after the next separator are read.
public struct JSONTextSequenceParser<T: Decodable & Sendable>: DataStreamParser {
    /// Decodes.
    public let decoder: any DataDecoder
    /// The bytes that a value may have.
    public let maximumLength: Int
    private var record = JSONRecord()
    private var number = 0
    private var place = Place.beginning(bytesOfMark: 0)

    private enum Place {
        /// A byte-order mark may come, of which so many bytes have.
        case beginning(bytesOfMark: Int)
        case inRecord
        /// Only white space and a separator may come.
        case betweenRecords
        /// What comes up to the next separator was reported.
        case passing
    }

    /// Makes a parser.
    ///
    /// - Parameters:
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - maximumLength: The bytes that a value may have; what is longer fails with
    ///     ``JSONStreamError/Reason/tooLong(limit:)`` and is not kept. The default is 1 MiB.
    public init(
        decoder: any DataDecoder = JSONDecoder(),
        maximumLength: Int = JSONTextSequenceParser.defaultMaximumLength
    ) {
        self.decoder = decoder
        self.maximumLength = maximumLength
    }

    /// 1 MiB.
    public static var defaultMaximumLength: Int { 1 << 20 }

    /// The values that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<T, AFError>] {
        var results: [Result<T, AFError>] = []
        for byte in chunk {
            if let result = take(byte) { results.append(result) }
        }
        return results
    }

    /// The last value, if no line's end came after it.
    public mutating func finish() -> [Result<T, AFError>] {
        endOfRecord().map { [$0] } ?? []
    }

    private mutating func take(_ byte: UInt8) -> Result<T, AFError>? {
        if byte == JSONRecord.separator {
            let result = endOfRecord()
            number += 1
            place = .inRecord
            return result
        }
        switch place {
        case .passing: return nil
        case .beginning(let count):
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            guard byte != mark[count] else {
                place = count < 2 ? .beginning(bytesOfMark: count + 1) : .betweenRecords
                return nil
            }
            place = .betweenRecords
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
        guard case .inRecord = place else { return nil }
        defer { record = JSONRecord() }
        place = .betweenRecords
        guard !record.isBlank else { return nil }
        guard !record.mayBeTruncated else {
            return .failure(JSONStreamError(.mayBeTruncated, .record, number).asAFError)
        }
        return decoder.decode(record.bytes, as: T.self, .record, number)
    }

    private mutating func failure(_ reason: JSONStreamError.Reason) -> Result<T, AFError> {
        record = JSONRecord()
        place = .passing
        return .failure(JSONStreamError(reason, .record, max(number, 1)).asAFError)
    }
}

extension DataStreamParser {
    /// Decodes the values of a JSON text sequence.
    public static func jsonTextSequence<T: Decodable & Sendable>(
        of type: T.Type,
        decoder: any DataDecoder = JSONDecoder(),
        maximumLength: Int = JSONTextSequenceParser<T>.defaultMaximumLength
    ) -> Self where Self == JSONTextSequenceParser<T> {
        JSONTextSequenceParser(decoder: decoder, maximumLength: maximumLength)
    }
}

/// The bytes of one value in a JSON text sequence, while they come. It knows whether they can be all, not whether they are
/// valid.
struct JSONRecord: Sendable {
    /// RS, which begins a record (RFC 7464, section 2.2).
    static let separator: UInt8 = 0x1E

    private(set) var bytes = Data()
    private var first: UInt8?
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// Whether there is nothing but white space.
    var isBlank: Bool { first == nil }

    /// Whether all brackets and quotation marks are closed.
    var isComplete: Bool { !isBlank && depth <= 0 && !isInString }

    /// Whether this is a number or a literal that ends without white space, so that its end may be missing.
    var mayBeTruncated: Bool {
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

// MARK: - Errors

/// Why a value in a stream of JSON could not be read, and which one it was. The values after it can be read all the same.
///
/// It is the `underlyingError` of ``AFError/responseSerializationFailed(reason:)``, whose reason is
/// ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` for ``Reason/undecodable(_:)``, else
/// ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)``.
public struct JSONStreamError: Error, Sendable {
    /// What was wrong.
    public enum Reason: Sendable {
        /// The value has more bytes than this, which was the limit. It was passed over and not kept.
        case tooLong(limit: Int)
        /// The value is no JSON, or has not the shape of the type asked for. The error is the decoder's.
        case undecodable(any Error)
        /// A number, `true`, `false` or `null` has no white space after it, so that its end may be missing (RFC 7464,
        /// section 2.4).
        case mayBeTruncated
        /// There are bytes before the first record separator, or after the end of a value (RFC 7464, section 2.1).
        case outsideOfRecord
    }

    /// What sets values apart.
    public enum Framing: String, Sendable {
        /// Each line is a value.
        case line
        /// A record separator (RS, U+001E) begins a value.
        case record
    }

    /// What was wrong.
    public let reason: Reason
    /// What sets values apart in this stream.
    public let framing: Framing
    /// Which line or record it was; the first is 1. Empty lines count.
    public let number: Int

    /// Makes an error.
    public init(reason: Reason, framing: Framing, number: Int) {
        self.reason = reason
        self.framing = framing
        self.number = number
    }
}

extension JSONStreamError: LocalizedError, CustomStringConvertible {
    /// What was wrong where, and what can be done.
    public var description: String {
        let place = "\(framing.rawValue.capitalized) \(number) of the stream"
        return switch reason {
        case .tooLong(let limit):
            "\(place) has more than \(limit) bytes. Ask for a larger maximum length if that is no mistake."
        case .undecodable(let error): "\(place) could not be decoded: \(TerminalText.line("\(error)"))"
        case .mayBeTruncated: "\(place) has no white space at its end, so that a part may be missing."
        case .outsideOfRecord: "\(place) has bytes outside of any value; is this a JSON text sequence (RFC 7464)?"
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
    /// The value of a line or a record.
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
