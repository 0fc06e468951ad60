/// Values by key, ordered by their last use.
package struct LeastRecentlyUsed<Value> {
    private struct Node {
        var key: String
        var value: Value
        var cost: Int
        /// The neighbors in the order of use; −1 for none.
        var newer = -1
        var older = -1
    }

    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var indices: [String: Int] = [:]
    private var newest = -1
    private var oldest = -1
    package private(set) var cost = 0

    package init() {}

    package var count: Int { indices.count }
    package var values: [Value] { nodes.compactMap { $0?.value } }

    /// Returns the value for a key and marks it as the most recently used.
    package mutating func value(for key: String) -> Value? {
        guard let index = indices[key] else { return nil }
        use(index)
        return nodes[index]?.value
    }

    /// Sets a value and marks it as the most recently used. Returns the replaced value, if any.
    package mutating func set(_ value: Value, cost: Int, for key: String) -> [Value] {
        let old = remove(key)
        let index = free.popLast() ?? nodes.count
        let node = Node(key: key, value: value, cost: cost)
        if index == nodes.count { nodes.append(node) } else { nodes[index] = node }
        indices[key] = index
        self.cost += cost
        link(index)
        return old.map { [$0] } ?? []
    }

    @discardableResult
    package mutating func remove(_ key: String) -> Value? {
        guard let index = indices.removeValue(forKey: key) else { return nil }
        unlink(index)
        defer {
            nodes[index] = nil
            free.append(index)
        }
        cost -= nodes[index]?.cost ?? 0
        return nodes[index]?.value
    }

    /// Removes the least recently used value.
    package mutating func removeLeast() -> Value? {
        guard oldest >= 0, let key = nodes[oldest]?.key else { return nil }
        return remove(key)
    }

    private mutating func use(_ index: Int) {
        guard index != newest else { return }
        unlink(index)
        link(index)
    }

    private mutating func link(_ index: Int) {
        nodes[index]?.older = newest
        nodes[index]?.newer = -1
        if newest >= 0 { nodes[newest]?.newer = index } else { oldest = index }
        newest = index
    }

    private mutating func unlink(_ index: Int) {
        guard let node = nodes[index] else { return }
        if node.newer >= 0 { nodes[node.newer]?.older = node.older } else { newest = node.older }
        if node.older >= 0 { nodes[node.older]?.newer = node.newer } else { oldest = node.newer }
    }
}
