/// The decoder of one content coding.
protocol ContentCoding: AnyObject {
    /// Whether the input so far is complete. Empty input is complete.
    var isComplete: Bool { get }

    /// Decodes until the output is full or all of the input is consumed.
    ///
    /// - Returns: The number of decoded bytes. If it is less than the output's size, decoding more requires more input.
    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingFailure) -> Int
}

enum ContentCodingFailure: Error {
    case broken(String)
    case outOfMemory

    static let excess = ContentCodingFailure.broken("bytes follow its end")
}

extension UnsafeRawBufferPointer {
    mutating func removeFirst(_ count: Int) { self = UnsafeRawBufferPointer(rebasing: self[count...]) }
}
