import AfarImage
import AfarTransport
import Dispatch

/// Collects the responses of downloads in the order of their arrival.
final class Collector: Sendable {
    private struct State {
        var responses: [AFIDataResponse<Image>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Removes and returns the continuations whose number of responses has arrived.
        mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
            let ready = watchers.filter { $0.count <= responses.count }.map(\.continuation)
            watchers.removeAll { $0.count <= responses.count }
            return ready
        }
    }

    let queue = DispatchQueue(label: "collector")
    private let state = Locked(State())

    /// A completion handler that adds a response.
    var collect: ImageDownloader.CompletionHandler {
        { [self] response in
            let ready = state.withLock { state in
                state.responses.append(response)
                return state.takeReady()
            }
            for continuation in ready { continuation.resume() }
        }
    }

    /// Waits for a number of responses, and returns all responses so far.
    func responses(_ count: Int) async -> [AFIDataResponse<Image>] {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.watchers.append((count, continuation))
                return state.takeReady()
            }
            for continuation in ready { continuation.resume() }
        }
        return state.withLock { $0.responses }
    }
}
