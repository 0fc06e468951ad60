public import AfarCore
public import Foundation

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
