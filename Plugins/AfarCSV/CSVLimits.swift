/// What CSV from a server may cost. A row beyond a limit fails with a ``CSVError`` and is not kept.
public struct CSVLimits: Hashable, Sendable {
    /// The limits.
    public enum Limit: String, Sendable {
        /// ``CSVLimits/maximumFieldLength``.
        case fieldLength
        /// ``CSVLimits/maximumFieldCount``.
        case fieldCount
        /// ``CSVLimits/maximumRowLength``.
        case rowLength
        /// ``CSVLimits/maximumRowCount``.
        case rowCount
    }

    /// The bytes of a field, in UTF-8. The default is 1 MiB.
    public var maximumFieldLength: Int
    /// The fields of a row. The default is 10,000.
    public var maximumFieldCount: Int
    /// The bytes of a row, in UTF-8, where doubled quotation marks count once. The default is 8 MiB.
    public var maximumRowLength: Int
    /// The rows, without the header; nothing is read beyond. By default there is no limit: rows that are kept are those of a
    /// body in memory, which has its own.
    public var maximumRowCount: Int

    /// Makes limits.
    public init(
        maximumFieldLength: Int = 1 << 20,
        maximumFieldCount: Int = 10_000,
        maximumRowLength: Int = 8 << 20,
        maximumRowCount: Int = .max
    ) {
        self.maximumFieldLength = maximumFieldLength
        self.maximumFieldCount = maximumFieldCount
        self.maximumRowLength = maximumRowLength
        self.maximumRowCount = maximumRowCount
    }
}
