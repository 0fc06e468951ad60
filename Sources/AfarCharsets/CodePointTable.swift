/// The code points of an index of the Encoding Standard, by pointer.
///
/// A code point is three characters, each six bits more than "0" (U+0030), the highest first. So a table is a literal that
/// compiles at once, takes no time to load, and is read where it lies. Who reads many code points fetches the table once:
/// reading from it is inlined, fetching it is not.
package struct CodePointTable: @unchecked Sendable {
    // Sendable because the digits are part of the program and never change.

    @usableFromInline let digits: UnsafePointer<UInt8>
    /// How many pointers there are.
    @usableFromInline package let count: Int

    init(_ digits: StaticString) {
        self.digits = digits.utf8Start
        count = digits.utf8CodeUnitCount / 3
    }

    /// The code point; 0 where the index has none.
    @inlinable package subscript(pointer: Int) -> UInt32 {
        guard pointer >= 0, pointer < count else { return 0 }
        let digit = digits + 3 * pointer
        return UInt32(digit[0] &- 0x30) << 12 | UInt32(digit[1] &- 0x30) << 6 | UInt32(digit[2] &- 0x30)
    }
}
