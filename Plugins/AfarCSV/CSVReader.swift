import AfarSerializers
import Foundation

/// Reads the rows of a body, according to the encoding, the format and the limits. The body can arrive in several pieces.
struct CSVReader: Sendable {
    private let decoder: CSVDataDecoder
    private var input: CSVInput
    /// Nil if the format is invalid. In this case, `formatError` is set.
    private var tokenizer: CSVTokenizer?
    private var formatError: CSVError?
    private var chunk = Data()
    private var position = 0
    private var isWhole = false
    /// Whether reading has stopped.
    private var isEnded = false
    private var expectedCount: Int?
    private var rowCount = 0
    /// The column names; nil before they are read, or if there are none.
    private(set) var columns: CSVColumns?

    var encoding: TextEncoding { input.encoding }

    init(_ decoder: CSVDataDecoder, contentType: String?) {
        self.decoder = decoder
        input = CSVInput(encoding: decoder.encoding, contentType: contentType)
        do {
            tokenizer = CSVTokenizer(try CSVSyntax(decoder.format), decoder.limits)
        } catch {
            formatError = error
        }
        if case .names(let names) = decoder.format.header {
            columns = CSVColumns(names, decoder.keyDecodingStrategy)
            expectedCount = names.count
        }
    }

    /// Adds the next piece. The caller must have read all rows of the previous piece.
    mutating func append(_ bytes: Data) throws(TextDecodingError) {
        try take { input throws(TextDecodingError) in try input.utf8(of: bytes) }
    }

    /// Ends the body. The caller must have read all rows of the last piece.
    mutating func finish() throws(TextDecodingError) {
        try take { input throws(TextDecodingError) in try input.finish() }
        isWhole = true
    }

    private mutating func take(
        _ bytes: (inout CSVInput) throws(TextDecodingError) -> Data
    ) throws(TextDecodingError) {
        guard !isEnded else { return }
        do {
            chunk = try bytes(&input)
            position = 0
        } catch {
            isEnded = true
            throw error
        }
    }

    /// Returns the next row or its error, or nil if no further complete row has arrived.
    mutating func next() -> Result<CSVRecord, CSVError>? {
        while !isEnded {
            guard let result = nextRecord() else { return endOfRows() }
            guard needsHeader else { return checked(result) }
            switch result {
            case .success(let record):
                if let error = takeHeader(record) { return .failure(error) }
            case .failure(let error):
                // Rows can't be decoded without column names.
                isEnded = true
                return .failure(error)
            }
        }
        return nil
    }

    private var needsHeader: Bool { columns == nil && decoder.format.header == .firstRow }

    private mutating func nextRecord() -> Result<CSVRecord, CSVError>? {
        if let formatError {
            isEnded = true
            return .failure(formatError)
        }
        let chunk = chunk
        let result = chunk.withUnsafeBytes { tokenizer?.next($0.bindMemory(to: UInt8.self), &position) }
        return result ?? (isWhole ? tokenizer?.finish() : nil)
    }

    private mutating func endOfRows() -> Result<CSVRecord, CSVError>? {
        guard isWhole else { return nil }
        isEnded = true
        return needsHeader ? .failure(CSVError(.missingHeader, line: nil, column: nil)) : nil
    }

    private mutating func takeHeader(_ record: CSVRecord) -> CSVError? {
        var names: [String] = []
        for index in record.fields.indices {
            guard let name = record.text(index, encoding) else {
                isEnded = true
                return CSVError(.malformedHeader(encoding), line: record.line, column: index + 1)
            }
            names.append(name)
        }
        columns = CSVColumns(names, decoder.keyDecodingStrategy)
        expectedCount = names.count
        return nil
    }

    private mutating func checked(_ result: Result<CSVRecord, CSVError>) -> Result<CSVRecord, CSVError> {
        let maximum = decoder.limits.maximumRowCount
        guard rowCount < maximum else {
            isEnded = true
            let line = (try? result.get())?.line
            return .failure(CSVError(.limitExceeded(.rowCount, maximum: maximum), line: line, column: nil))
        }
        rowCount += 1
        guard case .success(let record) = result, !decoder.format.allowsUnevenRows else { return result }
        let expected = expectedCount ?? record.fields.count
        expectedCount = expected
        guard record.fields.count == expected else {
            return .failure(
                CSVError(
                    .fieldCount(found: record.fields.count, expected: expected), line: record.line, column: nil))
        }
        return result
    }
}

extension CSVRecord {
    /// Returns the text of a field, or nil if its bytes are invalid in the encoding.
    func text(_ index: Int, _ encoding: TextEncoding) -> String? {
        let bytes = bytes[fields[index].range]
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        // In other encodings, invalid bytes have already been replaced by U+FFFD.
        return encoding != .utf8 && text.unicodeScalars.contains("\u{FFFD}") ? nil : text
    }
}

/// Converts a body to UTF-8. Uses the first available of these encodings: the given encoding, the encoding of a byte-order
/// mark, the Content-Type's charset, and UTF-8. The bytes of a UTF-8 body don't change, except that a byte-order mark is
/// removed.
struct CSVInput: Sendable {
    private enum State {
        /// The first bytes, until enough have arrived to detect a byte-order mark.
        case beginning([UInt8])
        case utf8
        case decoding(TextDecoder)
    }

    private let rules: TextDecoding
    private let contentType: String?
    private var state = State.beginning([])
    /// The body's encoding, once it's known.
    private(set) var encoding = TextEncoding.utf8

    init(encoding: TextEncoding?, contentType: String?) {
        rules = TextDecoding(encoding: encoding, malformedBytes: .replace)
        self.contentType = contentType
    }

    /// - Throws: A `TextDecodingError` if the charset is unknown.
    mutating func utf8(of chunk: Data) throws(TextDecodingError) -> Data {
        switch state {
        case .utf8: return chunk
        case .decoding(var decoder):
            // Releases the state's reference to the decoder, so that decoding doesn't copy the decoder.
            state = .utf8
            let text = decoder.decode(chunk)
            state = .decoding(decoder)
            return Data(text.utf8)
        case .beginning(let start):
            guard start.count + chunk.count >= 4 || Self.beginsNoMark(start.first ?? chunk.first) else {
                state = .beginning(start + chunk)
                return Data()
            }
            return try begin(start.isEmpty ? chunk : Data(start + chunk))
        }
    }

    /// - Throws: A `TextDecodingError` if the charset is unknown.
    mutating func finish() throws(TextDecodingError) -> Data {
        switch state {
        case .utf8: return Data()
        case .decoding(var decoder): return Data(decoder.finish().utf8)
        case .beginning(let start):
            var bytes = try begin(Data(start))
            if case .decoding = state { bytes += try finish() }
            return bytes
        }
    }

    private mutating func begin(_ bytes: Data) throws(TextDecodingError) -> Data {
        encoding = try rules.decode(bytes.prefix(4), contentType: contentType).encoding
        guard encoding == .utf8 else {
            state = .decoding(TextDecoder(encoding))
            return try utf8(of: bytes)
        }
        state = .utf8
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
    }

    private static func beginsNoMark(_ first: UInt8?) -> Bool {
        first.map { ![0xEF, 0xFE, 0xFF, 0x00].contains($0) } ?? false
    }
}

/// The names of a table's columns.
final class CSVColumns: Sendable {
    /// The converted names of the columns, in order. Keys are compared with these names.
    let names: [String]
    private let indices: [String: Int]
    private let duplicates: Set<String>

    init(_ names: [String], _ strategy: CSVDataDecoder.KeyDecodingStrategy) {
        self.names = names.map(strategy.key)
        var indices: [String: Int] = [:]
        var duplicates: Set<String> = []
        for (index, name) in self.names.enumerated() where indices.updateValue(index, forKey: name) != nil {
            duplicates.insert(name)
        }
        self.indices = indices
        self.duplicates = duplicates
    }

    func index(of name: String) -> Int? { indices[name] }

    /// Returns whether several columns have this name.
    func isDuplicate(_ name: String) -> Bool { !duplicates.isEmpty && duplicates.contains(name) }
}
