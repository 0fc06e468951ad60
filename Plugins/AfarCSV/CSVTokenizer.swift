/// Divides bytes into rows and fields (RFC 4180, section 2). Chunks can end anywhere.
///
/// A row's bytes are copied once. They are copied in one step if the row has no doubled quotation marks and is within one
/// chunk. The lengths of fields and rows are checked before each significant byte and at the end of each chunk, so that errors
/// don't depend on where chunks end.
struct CSVTokenizer: Sendable {
    private enum State {
        case rowStart, fieldStart, unquoted, quoted
        /// After a quotation mark in a quoted field. The mark either ends the field or is the first of two.
        case quoteInQuoted
        /// After the end of a quoted field.
        case afterQuoted
        case comment
    }

    let syntax: CSVSyntax
    private let maximumFieldLength: Int
    private let maximumRowLength: Int
    private let limits: CSVLimits
    private var state = State.rowStart
    private var record = CSVRecord()
    private var line = 1
    /// Whether the previous byte was a CR. A following LF belongs to the same line ending.
    private var isAfterCR = false
    /// Whether the rest of the row is skipped.
    private var isSkipping = false
    // Offsets in the record's bytes.
    private var fieldStart = 0
    private var fieldEnd = 0
    private var fieldLine = 1
    private var isQuoted = false

    init(_ syntax: CSVSyntax, _ limits: CSVLimits) {
        self.syntax = syntax
        self.limits = limits
        maximumFieldLength = max(0, limits.maximumFieldLength)
        maximumRowLength = max(0, limits.maximumRowLength)
    }

    /// Returns the next row or its error, or nil if the chunk has no more complete rows.
    ///
    /// - Parameter position: The position in the chunk, which is advanced.
    mutating func next(_ chunk: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Result<CSVRecord, CSVError>? {
        // The first byte that hasn't been copied.
        var start = position
        while position < chunk.count {
            let result: Result<CSVRecord, CSVError>?
            switch state {
            case .rowStart:
                result = nil
                startRow(chunk[position], &position, &start)
            case .comment:
                result = nil
                position = endOfLine(chunk, position)
                start = position
            case .fieldStart:
                result = nil
                startField(chunk[position], &position, record.bytes.count + position - start)
            case .unquoted:
                position = endOfUnquoted(chunk, position)
                guard position < chunk.count else { continue }
                result = takeAfterUnquoted(chunk, &position, &start)
            case .quoted:
                position = endOfQuoted(chunk, position)
                guard position < chunk.count else { continue }
                result = takeInQuoted(chunk[position], &position, record.bytes.count + position - start)
            case .quoteInQuoted:
                result = takeAfterQuote(chunk, &position, &start)
            case .afterQuoted:
                result = takeAfterQuoted(chunk, &position, &start)
            }
            if let result { return result }
        }
        return endChunk(chunk, &start)
    }

    /// Returns the last row, if it has no line ending, or its error.
    mutating func finish() -> Result<CSVRecord, CSVError>? {
        switch state {
        case .rowStart, .comment: return nil
        case .quoted: return fail(.unterminatedQuote)
        case .fieldStart:
            fieldStart = record.bytes.count
            return endField(at: fieldStart) ?? endRow()
        case .unquoted:
            let end = trimmedEnd(UnsafeBufferPointer(start: nil, count: 0), record.bytes.count, 0)
            return endField(at: end) ?? endRow()
        case .quoteInQuoted, .afterQuoted: return endField(at: fieldEnd) ?? endRow()
        }
    }
}

// MARK: Steps

extension CSVTokenizer {
    private mutating func startRow(_ byte: UInt8, _ position: inout Int, _ start: inout Int) {
        start = position
        if isAfterCR, byte == .lineFeed {
            isAfterCR = false
            position += 1
            start = position
            return
        }
        isAfterCR = false
        if byte == syntax.comment {
            state = .comment
            return
        }
        record.removeAll()
        record.line = line
        isSkipping = false
        beginField(at: 0)
    }

    private mutating func startField(_ byte: UInt8, _ position: inout Int, _ offset: Int) {
        fieldStart = offset
        if syntax.hasQuote, byte == syntax.quote {
            position += 1
            fieldStart = offset + 1
            isQuoted = true
            state = .quoted
        } else if syntax.isTrimmed(byte) {
            position += 1
        } else {
            state = .unquoted
        }
    }

    private mutating func takeAfterUnquoted(
        _ chunk: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ start: inout Int
    ) -> Result<CSVRecord, CSVError>? {
        let offset = record.bytes.count + position - start
        if let failure = checkLengths(field: offset, row: offset) { return failure }
        guard chunk[position] == syntax.quote, syntax.hasQuote else {
            return takeSeparator(chunk, &position, &start, fieldEnd: offset)
        }
        position += 1
        return fail(.unexpectedQuote)
    }

    private mutating func takeInQuoted(
        _ byte: UInt8, _ position: inout Int, _ offset: Int
    ) -> Result<CSVRecord, CSVError>? {
        if let failure = checkLengths(field: offset, row: offset) { return failure }
        position += 1
        if byte == syntax.quote {
            isAfterCR = false
            fieldEnd = offset
            state = .quoteInQuoted
        } else {
            if byte == .carriageReturn || !isAfterCR { line += 1 }
            isAfterCR = byte == .carriageReturn
        }
        return nil
    }

    private mutating func takeAfterQuote(
        _ chunk: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ start: inout Int
    ) -> Result<CSVRecord, CSVError>? {
        if let failure = checkLengths(field: fieldEnd, row: fieldEnd + 1) { return failure }
        guard chunk[position] == syntax.quote else {
            state = .afterQuoted
            return nil
        }
        // Copies only the first of the two quotation marks.
        copy(chunk, start..<position)
        position += 1
        start = position
        state = .quoted
        return nil
    }

    private mutating func takeAfterQuoted(
        _ chunk: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ start: inout Int
    ) -> Result<CSVRecord, CSVError>? {
        let byte = chunk[position]
        let offset = record.bytes.count + position - start
        if let failure = checkLengths(field: fieldEnd, row: offset) { return failure }
        if syntax.isTrimmed(byte) {
            position += 1
            return nil
        }
        guard byte == syntax.delimiter || byte == .lineFeed || byte == .carriageReturn else {
            state = .unquoted
            return fail(.textAfterQuote)
        }
        return takeSeparator(chunk, &position, &start, fieldEnd: fieldEnd)
    }

    /// Consumes a delimiter or a line ending.
    private mutating func takeSeparator(
        _ chunk: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ start: inout Int, fieldEnd: Int
    ) -> Result<CSVRecord, CSVError>? {
        let byte = chunk[position]
        let end = trimmedEnd(chunk, fieldEnd, start)
        guard byte != syntax.delimiter else {
            position += 1
            let failure = endField(at: end)
            beginField(at: record.bytes.count + position - start)
            return failure
        }
        copy(chunk, start..<position)
        position += 1
        start = position
        line += 1
        isAfterCR = byte == .carriageReturn
        let failure = endField(at: end)
        let row = endRow()
        return failure ?? row
    }

    /// Copies the chunk's part of an incomplete row.
    private mutating func endChunk(
        _ chunk: UnsafeBufferPointer<UInt8>, _ start: inout Int
    ) -> Result<CSVRecord, CSVError>? {
        guard start < chunk.count, !isSkipping else { return nil }
        let offset = record.bytes.count + chunk.count - start
        let field =
            switch state {
            case .rowStart, .fieldStart, .comment: fieldStart
            case .unquoted, .quoted: offset
            case .quoteInQuoted, .afterQuoted: fieldEnd
            }
        if let failure = checkLengths(field: field, row: offset) { return failure }
        copy(chunk, start..<chunk.count)
        return nil
    }
}

// MARK: Parts

extension CSVTokenizer {
    private mutating func copy(_ chunk: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        guard !isSkipping else { return }
        record.bytes.append(contentsOf: UnsafeBufferPointer(rebasing: chunk[range]))
    }

    private mutating func beginField(at offset: Int) {
        state = .fieldStart
        fieldStart = offset
        fieldLine = line
        isQuoted = false
    }

    private mutating func endField(at end: Int) -> Result<CSVRecord, CSVError>? {
        guard !isSkipping else { return nil }
        guard record.fields.count < limits.maximumFieldCount else {
            return fail(.limitExceeded(.fieldCount, maximum: limits.maximumFieldCount))
        }
        record.fields.append(CSVRecord.Field(range: fieldStart..<max(fieldStart, end), isQuoted: isQuoted))
        return nil
    }

    private mutating func endRow() -> Result<CSVRecord, CSVError>? {
        state = .rowStart
        guard !isSkipping, !(syntax.skipsEmptyLines && record.isEmpty) else { return nil }
        return .success(record)
    }

    /// Rejects a row that exceeds a length limit. The error names the limit that was exceeded first.
    private mutating func checkLengths(field: Int, row: Int) -> Result<CSVRecord, CSVError>? {
        let fieldExcess = field - fieldStart - maximumFieldLength
        let rowExcess = row - maximumRowLength
        guard !isSkipping, fieldExcess > 0 || rowExcess > 0 else { return nil }
        return fieldExcess >= rowExcess
            ? fail(.limitExceeded(.fieldLength, maximum: maximumFieldLength))
            : fail(.limitExceeded(.rowLength, maximum: maximumRowLength))
    }

    private mutating func fail(_ reason: CSVError.Reason) -> Result<CSVRecord, CSVError>? {
        guard !isSkipping else { return nil }
        let error = CSVError(reason, line: fieldLine, column: record.fields.count + 1)
        isSkipping = true
        record.removeAll()
        return .failure(error)
    }

    /// Returns the end of a field without trailing white space. The white space can be in the chunk or in copied bytes.
    private func trimmedEnd(_ chunk: UnsafeBufferPointer<UInt8>, _ end: Int, _ start: Int) -> Int {
        guard syntax.trimsWhitespace, !isQuoted, !isSkipping else { return end }
        var end = end
        let copied = record.bytes.count
        while end > fieldStart {
            guard syntax.isTrimmed(end > copied ? chunk[start + end - 1 - copied] : record.bytes[end - 1]) else {
                break
            }
            end -= 1
        }
        return end
    }

    private func endOfUnquoted(_ chunk: UnsafeBufferPointer<UInt8>, _ position: Int) -> Int {
        let (delimiter, quote) = (syntax.delimiter, syntax.quote)
        var position = position
        while position < chunk.count {
            let byte = chunk[position]
            if byte == delimiter || byte == .lineFeed || byte == .carriageReturn || byte == quote { break }
            position += 1
        }
        return position
    }

    private mutating func endOfQuoted(_ chunk: UnsafeBufferPointer<UInt8>, _ position: Int) -> Int {
        let begin = position
        var position = position
        while position < chunk.count {
            let byte = chunk[position]
            if byte == syntax.quote || byte == .lineFeed || byte == .carriageReturn { break }
            position += 1
        }
        if position > begin { isAfterCR = false }
        return position
    }

    /// Skips a comment with its line ending.
    private mutating func endOfLine(_ chunk: UnsafeBufferPointer<UInt8>, _ position: Int) -> Int {
        var position = position
        while position < chunk.count {
            let byte = chunk[position]
            position += 1
            guard byte == .lineFeed || byte == .carriageReturn else { continue }
            line += 1
            isAfterCR = byte == .carriageReturn
            state = .rowStart
            break
        }
        return position
    }
}

// MARK: - Rows in bytes

/// The bytes of a row and the ranges of its fields.
struct CSVRecord: Sendable {
    struct Field: Sendable {
        let range: Range<Int>
        let isQuoted: Bool
    }

    /// The fields and delimiters. Quotation marks within fields are included. Quotation marks around fields aren't.
    var bytes: [UInt8] = []
    var fields: [Field] = []
    /// The line on which the row begins.
    var line = 1

    /// Whether the row is an empty line.
    var isEmpty: Bool { fields.count == 1 && fields[0].range.isEmpty && !fields[0].isQuoted }

    /// Removes all bytes. The memory is reused for the next row, unless this row is still in use.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }
}
