import CStack

/// Checks whether the stack of the thread has room for another level of a nested value. The code of users' types needs room too, so a
/// fixed number of levels is no measure.
struct StackSpace {
    /// How many levels are always possible, so that nothing needs to be checked.
    private static let safeDepth = 24
    /// The bytes that one level leaves for the code of users' types.
    private static let reserve: UInt = 64 << 10

    private(set) var depth = 0
    private var end: UInt?

    /// Begins a level. Returns whether there is room for it.
    mutating func enter() -> Bool {
        depth += 1
        guard depth >= Self.safeDepth else { return true }
        let end = end ?? UInt(afar_stack_end())
        self.end = end
        return UInt(afar_stack_position()) > end + Self.reserve
    }

    mutating func leave() { depth -= 1 }
}
