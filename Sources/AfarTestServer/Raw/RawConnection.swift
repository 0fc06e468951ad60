import Foundation

/// Plays a script to one connection, on the connection's own thread.
struct RawConnection {
    private enum Ending: Error {
        case byScript
        case byPeer
    }

    private let socket: Socket
    private let index: Int
    private let log: RawLog
    private var input: BufferedSocket
    private var hasSeenEnd = false

    init(socket: Socket, index: Int, log: RawLog) {
        self.socket = socket
        self.index = index
        self.log = log
        input = BufferedSocket(socket) { log.received($0, on: index) }
    }

    /// Returns when either side has ended the connection.
    mutating func play(_ script: [RawServer.Step]) {
        log.opened(index)
        do {
            try perform(script)
            try readToEnd()
            log.peerClosed(index)
        } catch Ending.byScript {
            // The peer's end can't be seen any more.
        } catch {
            log.peerClosed(index)
        }
    }

    private mutating func perform(_ steps: [RawServer.Step]) throws {
        for step in steps { try perform(step.action) }
    }

    private mutating func perform(_ action: RawServer.Step.Action) throws {
        switch action {
        case .send(let bytes, let pause, let times):
            for _ in 0..<max(0, times) {
                if pause > 0 { try wait(seconds: pause) }
                try socket.write(bytes)
            }
        case .receiveHead:
            guard let head = try input.read(through: [13, 10, 13, 10], limit: .max) else { throw Ending.byPeer }
            log.received(head: String(decoding: head, as: UTF8.self), on: index)
        case .receive(let count):
            try receive(count)
        case .receiveAll:
            try readToEnd()
            hasSeenEnd = true
            log.peerClosed(index)
        case .wait(let seconds):
            try wait(seconds: seconds)
        case .hold(let gate):
            let wakeup = try Wakeup()
            gate.whenOpen { wakeup.wake() }
            try wait(seconds: nil, wakeup: wakeup)
        case .mark(let name):
            log.reached(name, on: index)
        case .halfClose:
            socket.finishWriting()
        case .close:
            socket.close()
            throw Ending.byScript
        case .reset:
            socket.reset()
            throw Ending.byScript
        case .group(let steps):
            try perform(steps)
        case .loop(let steps):
            while !steps.isEmpty { try perform(steps) }
        }
    }

    private mutating func receive(_ count: Int) throws {
        var left = count
        while left > 0 {
            let taken = try input.read(atMost: left)
            guard taken > 0 else { throw Ending.byPeer }
            left -= taken
        }
    }

    private mutating func readToEnd() throws {
        while try input.read(atMost: .max) > 0 {}
    }

    private func wait(seconds: Double?, wakeup: Wakeup? = nil) throws {
        // A peer that has only finished sending, as the script has seen, may well wait for more.
        let result = socket.waitForPeer(seconds: seconds, wakeup: wakeup, halfClose: !hasSeenEnd)
        guard result != .peerClosed else { throw Ending.byPeer }
    }
}
