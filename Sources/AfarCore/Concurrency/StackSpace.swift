import CStack

/// How much of a thread's stack is left for values that lie in each other: their own code is on it too, so that only
/// looking tells.
package struct StackSpace {
    /// How deep values lie in each other by now.
    @usableFromInline package internal(set) var depth = 0
    private var lowest: UInt?

    package init() {}

    /// Goes one level deeper; false where there is no room for that.
    @inlinable
    package mutating func enter() -> Bool {
        depth += 1
        return depth < Self.safeDepth || hasRoom()
    }

    @inlinable
    package mutating func leave() { depth -= 1 }

    /// What fits on any stack; asking the system is dear.
    @inlinable static var safeDepth: Int { 24 }
    /// What must be left, for the code of a value between two looks.
    private static let reserve: UInt = 64 << 10

    @inline(never)
    @usableFromInline
    mutating func hasRoom() -> Bool {
        let end = lowest ?? UInt(afar_stack_end())
        lowest = end
        return UInt(afar_stack_position()) > end + Self.reserve
    }
}
