/// The events that libcurl waits for on each socket, and those registered with the kernel: a pure value.
///
/// libcurl says "no more" and "again" of a kept connection between two requests. Changes are gathered, the last one
/// wins, and what comes out the same costs no system call. "No more" alone is not passed on: the kernel goes on
/// watching until it has something to tell, which of an idle connection is rare, and worth knowing.
struct SocketInterests {
    enum Change: Equatable {
        case add(Int32, UInt32)
        case modify(Int32, UInt32)
        case remove(Int32)
    }

    private struct Entry {
        var wanted: UInt32 = 0
        var told: UInt32 = 0
        var isChanged = false
    }

    private var entries: [Entry] = []
    private var changed: [Int32] = []

    /// libcurl wants these epoll events of a socket; 0 means none.
    mutating func want(_ events: UInt32, of socket: Int32) {
        guard socket >= 0 else { return }
        while entries.count <= Int(socket) { entries.append(Entry()) }
        entries[Int(socket)].wanted = events
        note(socket)
    }

    /// A socket has been opened or is about to be closed, so the kernel knows nothing of this number. libcurl does not
    /// tell of every socket that it closes: those of its look-ups go silently, and their numbers come back.
    mutating func forget(_ socket: Int32) {
        guard socket >= 0, Int(socket) < entries.count else { return }
        entries[Int(socket)].told = 0
        entries[Int(socket)].wanted = 0
    }

    /// Whether the kernel was told to watch this socket. If not, what it reports is about an earlier one of that number.
    func isWatched(_ socket: Int32) -> Bool {
        socket >= 0 && Int(socket) < entries.count && entries[Int(socket)].told != 0
    }

    /// Whether libcurl waits for events of this socket.
    func isWanted(_ socket: Int32) -> Bool {
        socket >= 0 && Int(socket) < entries.count && entries[Int(socket)].wanted != 0
    }

    /// Something happened on a socket of which libcurl wants to know nothing: what the kernel must be told, so that it
    /// does not say so again.
    mutating func dismiss(_ socket: Int32) -> Change? {
        guard isWatched(socket), !isWanted(socket) else { return nil }
        entries[Int(socket)].told = 0
        return .remove(socket)
    }

    /// Hands out what the kernel must be told, and takes it as told.
    mutating func drain(_ apply: (Change) -> Void) {
        guard !changed.isEmpty else { return }
        for socket in changed {
            var entry = entries[Int(socket)]
            entry.isChanged = false
            if entry.wanted != 0, entry.wanted != entry.told {
                apply(entry.told == 0 ? .add(socket, entry.wanted) : .modify(socket, entry.wanted))
                entry.told = entry.wanted
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
