/// Passes elements from one task to another, one at a time: the giver waits until each has been taken.
final class Handoff<Element: Sendable>: Sendable {
    private typealias Waiting = UnsafeContinuation<Void, Never>

    private struct State {
        var offered: [Element] = []
        var isClosed = false
        var giver: Waiting?
        var taker: Waiting?
    }

    private let state = Locked(State())

    /// Offers an element and waits until it has been taken, the handoff is closed, or the task is cancelled.
    func give(_ element: Element) async {
        let taker = state.withLock { state in
            if !state.isClosed { state.offered.append(element) }
            return state.taker.take()
        }
        taker?.resume()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard !state.offered.isEmpty, !state.isClosed, !Task.isCancelled else { return false }
                    state.giver = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.giver.take() }?.resume()
        }
    }

    /// Offers the last elements without waiting.
    func finish(with elements: [Element]) {
        let taker = state.withLock { state in
            if !state.isClosed { state.offered += elements }
            state.isClosed = true
            return state.taker.take()
        }
        taker?.resume()
    }

    /// Returns the next element, or nil after the last one. Only one task may take elements. Cancelling it has no effect here.
    func take() async -> Element? {
        while true {
            let (element, isOver, giver) = state.withLock { state -> (Element?, Bool, Waiting?) in
                guard !state.offered.isEmpty else { return (nil, state.isClosed, nil) }
                return (state.offered.removeFirst(), false, state.giver.take())
            }
            giver?.resume()
            if element != nil || isOver { return element }
            await withUnsafeContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.offered.isEmpty, !state.isClosed else { return false }
                    state.taker = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }

    /// Ends the taking of elements. Returns whether the giver hadn't finished.
    @discardableResult
    func close() -> Bool {
        let (wasOpen, dropped, giver, taker) = state.withLock { state in
            let wasOpen = !state.isClosed
            state.isClosed = true
            return (wasOpen, Swift.exchange(&state.offered, with: []), state.giver.take(), state.taker.take())
        }
        withExtendedLifetime(dropped) {}
        giver?.resume()
        taker?.resume()
        return wasOpen
    }
}
