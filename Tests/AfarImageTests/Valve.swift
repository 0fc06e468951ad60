/// Holds requests until they are let go, and knows in which order they came.
actor Valve {
    private var held: [String: [CheckedContinuation<Void, Never>]] = [:]
    private var isOpen = false
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    private(set) var arrivals: [String] = []

    /// Comes to the valve, and waits until it is let go.
    func pass(_ name: String) async {
        arrivals.append(name)
        for watcher in watchers where watcher.count <= arrivals.count { watcher.continuation.resume() }
        watchers.removeAll { $0.count <= arrivals.count }
        guard !isOpen else { return }
        await withCheckedContinuation { held[name, default: []].append($0) }
    }

    /// Lets go what has come by this name.
    func open(_ name: String) {
        for continuation in held.removeValue(forKey: name) ?? [] { continuation.resume() }
    }

    /// Lets everything go from now on.
    func open() {
        isOpen = true
        for name in Array(held.keys) { open(name) }
    }

    /// Waits until so many have come.
    func wait(for count: Int) async {
        guard arrivals.count < count else { return }
        await withCheckedContinuation { watchers.append((count, $0)) }
    }
}
