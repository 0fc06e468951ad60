import CStack

/// Checks whether a thread's stack has room for more deeply nested values. The values' own code uses the stack too, so a fixed
/// depth limit isn't enough.
package struct StackSpace {
    @usableFromInline package internal(set) var depth = 0
    private var lowest: UInt?

    package init() {}

    /// Enters the next level. Returns false if the stack has no room for it.
    @inlinable
    package mutating func enter() -> Bool {
        depth += 1
        return depth < Self.safeDepth || hasRoom()
    }

    @inlinable
    package mutating func leave() { depth -= 1 }

    /// A depth that fits on any stack. Below this depth, the expensive system call isn't needed.
    @inlinable static var safeDepth: Int { 24 }
    /// The number of bytes to leave for a value's own code between two checks.
    private static let reserve: UInt = 64 << 10

    @inline(never)
    @usableFromInline
    mutating func hasRoom() -> Bool {
        let end = lowest ?? UInt(afar_stack_end())
        lowest = end
        return UInt(afar_stack_position()) > end + Self.reserve
    }
}
