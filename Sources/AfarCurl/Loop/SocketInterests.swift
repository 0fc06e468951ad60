/// The events that libcurl waits for on each socket, and the events that are registered with the kernel. It performs no I/O.
///
/// Between two requests, libcurl removes and restores its interest in a persistent connection. Only the last change for each
/// socket is applied, so changes that cancel each other out need no system call. A removal isn't applied at all. The kernel
/// continues to watch the socket, because an event on an idle connection is rare and useful.
struct SocketInterests {
    enum Change: Equatable {
        case add(Int32, UInt32)
        case modify(Int32, UInt32)
        case remove(Int32)
    }

    private struct Entry {
        var wanted: UInt32 = 0
        var registered: UInt32 = 0
        var isChanged = false
    }

    private var entries: [Entry] = []
    private var changed: [Int32] = []

    /// Sets the epoll events that libcurl waits for; 0 means none.
    mutating func setInterest(_ events: UInt32, of socket: Int32) {
        guard socket >= 0 else { return }
        while entries.count <= Int(socket) { entries.append(Entry()) }
        entries[Int(socket)].wanted = events
        note(socket)
    }

    /// Marks a socket as unregistered, because it was just opened or is about to be closed. libcurl doesn't report every socket
    /// that it closes: it closes the sockets of lookups silently, and new sockets reuse their numbers.
    mutating func reset(_ socket: Int32) {
        guard socket >= 0, Int(socket) < entries.count else { return }
        entries[Int(socket)].registered = 0
        entries[Int(socket)].wanted = 0
    }

    /// Whether the socket is registered with the kernel. If not, an event belongs to an earlier socket with the same number.
    func isRegistered(_ socket: Int32) -> Bool {
        socket >= 0 && Int(socket) < entries.count && entries[Int(socket)].registered != 0
    }

    /// Whether libcurl waits for events on the socket.
    func isWanted(_ socket: Int32) -> Bool {
        socket >= 0 && Int(socket) < entries.count && entries[Int(socket)].wanted != 0
    }

    /// Returns the change that unregisters a socket on which libcurl waits for no events; nil if there is nothing to unregister. Without
    /// this change, the kernel would keep reporting events that libcurl doesn't wait for.
    mutating func removeUnwanted(_ socket: Int32) -> Change? {
        guard isRegistered(socket), !isWanted(socket) else { return nil }
        entries[Int(socket)].registered = 0
        return .remove(socket)
    }

    /// Passes each pending change to a closure, and records it as applied.
    mutating func drain(_ apply: (Change) -> Void) {
        guard !changed.isEmpty else { return }
        for socket in changed {
            var entry = entries[Int(socket)]
            entry.isChanged = false
            if entry.wanted != 0, entry.wanted != entry.registered {
                apply(entry.registered == 0 ? .add(socket, entry.wanted) : .modify(socket, entry.wanted))
                entry.registered = entry.wanted
            }
            entries[Int(socket)] = entry
        }
        changed.removeAll(keepingCapacity: true)
    }

    private mutating func note(_ socket: Int32) {
        guard !entries[Int(socket)].isChanged else { return }
        entries[Int(socket)].isChanged = true
        changed.append(socket)
    }
}
