/// An index of the Encoding Standard: code points by pointer. “Pointer” is the standard's term for a position in an
/// index.
///
/// Each code point is encoded as three characters of six bits each, most significant first, offset by "0" (U+0030). The
/// table is a string literal that compiles quickly and is read in place. To read many code points, store the table in a
/// local variable first. Reading a code point is inlined, but accessing the table isn't.
package struct CodePointTable: @unchecked Sendable {
    // Sendable because the digits are immutable static data.

    @usableFromInline let digits: UnsafePointer<UInt8>
    /// The number of pointers.
    @usableFromInline package let count: Int

    init(_ digits: StaticString) {
        self.digits = digits.utf8Start
        count = digits.utf8CodeUnitCount / 3
    }

    /// Returns the code point for a pointer, or 0 if the index has none.
    @inlinable package subscript(pointer: Int) -> UInt32 {
        guard pointer >= 0, pointer < count else { return 0 }
        let digit = digits + 3 * pointer
        return UInt32(digit[0] &- 0x30) << 12 | UInt32(digit[1] &- 0x30) << 6 | UInt32(digit[2] &- 0x30)
    }
}
