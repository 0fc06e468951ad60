import AfarImage
import AfarTransport
import Dispatch

/// Takes the responses of downloads, in the order in which they come.
final class Collector: Sendable {
    private struct State {
        var responses: [AFIDataResponse<Image>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Takes those who have waited for what there is now.
        mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
            let ready = watchers.filter { $0.count <= responses.count }.map(\.continuation)
            watchers.removeAll { $0.count <= responses.count }
            return ready
        }
    }

    let queue = DispatchQueue(label: "collector")
    private let state = Locked(State())

    /// Takes a response.
    var collect: ImageDownloader.CompletionHandler {
        { [self] response in
            let ready = state.withLock { state in
                state.responses.append(response)
                return state.takeReady()
            }
            for continuation in ready { continuation.resume() }
        }
    }

    /// Waits until so many have come, and gives all that have.
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
