import AfarTransport
import CLibcurl
import Foundation

/// An open socket that a loop watches. Reading and writing never block; who has to wait is told by the loop's thread.
final class WatchedSocket: Sendable {
    enum Direction { case reading, writing }

    private struct State {
        /// Below 0 once it is closed.
        var descriptor: Int32
        var isClosed = false
        // Whether something may have changed since the system said that it has nothing for now.
        var mayRead = true
        var mayWrite = true
        var readers: [Deferred<Void>] = []
        var writers: [Deferred<Void>] = []

        /// Those who wait for something, who need not any more.
        mutating func takeWaiting(forReading: Bool = true, forWriting: Bool = true) -> [Deferred<Void>] {
            var waiting: [Deferred<Void>] = []
            if forReading { swap(&waiting, &readers) }
            if forWriting {
                waiting += writers
                writers = []
            }
            return waiting
        }
    }

    /// What the loop knows it by.
    let descriptor: Int32
    private let loop: CurlLoop
    private let state: Locked<State>

    /// - Parameter descriptor: Is closed by this object.
    init(_ descriptor: Int32, watchedBy loop: CurlLoop) {
        self.descriptor = descriptor
        self.loop = loop
        state = Locked(State(descriptor: descriptor))
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit { closeDescriptor() }

    /// What a system call came to.
    enum Outcome {
        case bytes(Int)
        case wouldBlock
        case failed(Int32)
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        attempt(\.mayRead) { recv($0, buffer.baseAddress, buffer.count, 0) }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        attempt(\.mayWrite) { descriptor in
            #if canImport(Glibc)
                Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            #else
                write(descriptor, bytes.baseAddress, bytes.count)
            #endif
        }
    }

    /// Under the lock, so that the descriptor is not closed, and another opened under its number, meanwhile.
    private func attempt(_ flag: WritableKeyPath<State, Bool>, _ call: (Int32) -> Int) -> Outcome {
        state.withLock { state in
            guard !state.isClosed else { return .failed(ECANCELED) }
            while true {
                let count = call(state.descriptor)
                if count >= 0 { return .bytes(count) }
                let code = errno
                if code == EINTR { continue }
                guard code == EAGAIN || code == EWOULDBLOCK else { return .failed(code) }
                // What the loop tells from now on is news; it takes the same lock.
                state[keyPath: flag] = false
                return .wouldBlock
            }
        }
    }

    /// Waits until there may be something to do in a direction, the time is up, the socket is closed or the task cancelled.
    func wait(for direction: Direction, until deadline: ContinuousClock.Instant?) async {
        let waiter = Deferred<Void>()
        let mustWait = state.withLock { state in
            switch direction {
            case _ where state.isClosed: return false
            case .reading:
                if !state.mayRead { state.readers.append(waiter) }
                return !state.mayRead
            case .writing:
                if !state.mayWrite { state.writers.append(waiter) }
                return !state.mayWrite
            }
        }
        guard mustWait else { return }
        let timer = deadline.map { waiter.fulfill((), after: ContinuousClock.now.duration(to: $0)) }
        await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            waiter.fulfill(())
        }
        timer?.cancel()
        guard deadline != nil || Task.isCancelled else { return }
        state.withLock { state in
            state.readers.removeAll { $0 === waiter }
            state.writers.removeAll { $0 === waiter }
        }
    }

    /// The kernel has told of it; called on the loop's thread.
    ///
    /// - Parameter bits: libcurl's `CURL_CSELECT_…`.
    func isReady(bits: Int32) {
        let isBroken = bits & CURL_CSELECT_ERR != 0
        let mayRead = isBroken || bits & CURL_CSELECT_IN != 0
        let mayWrite = isBroken || bits & CURL_CSELECT_OUT != 0
        let waiting = state.withLock { state in
            if mayRead { state.mayRead = true }
            if mayWrite { state.mayWrite = true }
            return state.takeWaiting(forReading: mayRead, forWriting: mayWrite)
        }
        for waiter in waiting { waiter.fulfill(()) }
    }

    /// The peer is told that nothing more comes.
    func finishWriting() { state.withLock { if !$0.isClosed { shutdown($0.descriptor, Int32(SHUT_WR)) } } }

    /// Ends both directions at once. May be called more than once, from any thread.
    func close() {
        let waiting = state.withLock { state -> [Deferred<Void>]? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            shutdown(state.descriptor, Int32(SHUT_RDWR))
            return state.takeWaiting()
        }
        guard let waiting else { return }
        for waiter in waiting { waiter.fulfill(()) }
        loop.post(.unwatch(self))
    }

    /// Gives the descriptor back: nobody watches it any more.
    func closeDescriptor() {
        state.withLock { state in
            state.isClosed = true
            if state.descriptor >= 0 { Foundation.close(state.descriptor) }
            state.descriptor = -1
        }
    }
}
