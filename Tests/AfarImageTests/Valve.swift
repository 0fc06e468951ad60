/// Blocks requests until they are released, and records the order of their arrival.
actor Valve {
    private var held: [String: [CheckedContinuation<Void, Never>]] = [:]
    private var isOpen = false
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    private(set) var arrivals: [String] = []

    /// Blocks the request until it is released.
    func pass(_ name: String) async {
        arrivals.append(name)
        for watcher in watchers where watcher.count <= arrivals.count { watcher.continuation.resume() }
        watchers.removeAll { $0.count <= arrivals.count }
        guard !isOpen else { return }
        await withCheckedContinuation { held[name, default: []].append($0) }
    }

    /// Releases the request with this name.
    func open(_ name: String) {
        for continuation in held.removeValue(forKey: name) ?? [] { continuation.resume() }
    }

    /// Releases all current and future requests.
    func open() {
        isOpen = true
        for name in Array(held.keys) { open(name) }
    }

    /// Waits until the given number of requests have arrived.
    func wait(for count: Int) async {
        guard arrivals.count < count else { return }
        await withCheckedContinuation { watchers.append((count, $0)) }
    }
}
