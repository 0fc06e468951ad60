/// Where in a text something stands. Of a value that could not be decoded it is the `underlyingError` of the `DecodingError`.
public struct JSONLocation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1.
    public let line: Int
    /// The character in the line (a Unicode scalar), counted from 1.
    public let column: Int
    /// The byte in the text, which is UTF-8 without a byte-order mark; counted from 0.
    public let byteOffset: Int

    /// The location of a byte.
    ///
    /// - Parameters:
    ///   - byteOffset: How many bytes of the text come before.
    ///   - text: The text in UTF-8.
    public init(of byteOffset: Int, in text: some Collection<UInt8>) {
        (line, column) = text.prefix(byteOffset).reduce(into: (1, 1)) { place, byte in
            if byte == 0x0A {
                place = (place.0 + 1, 1)
            } else if byte & 0xC0 != 0x80 {
                place.1 += 1
            }
        }
        self.byteOffset = byteOffset
    }

    /// The line, the column and the byte.
    public var description: String { "line \(line), column \(column) (byte \(byteOffset))" }
}
