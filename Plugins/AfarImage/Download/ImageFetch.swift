import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An image that is being fetched, and those who wait for it.
struct ImageFetch: Sendable {
    /// What tells fetches apart.
    struct Key: Hashable, Sendable {
        private let request: String
        private let cachePolicy: URLRequest.CachePolicy
        private let serializer: ObjectIdentifier

        init(_ request: URLRequest, _ serializer: ImageResponseSerializer) {
            self.request = request.imageIdentity
            cachePolicy = request.cachePolicy
            self.serializer = ObjectIdentifier(serializer)
        }
    }

    /// Somebody who waits.
    struct Waiter: Sendable {
        let id: UInt64
        let filter: (any ImageFilter)?
        /// Keeps the image, as it is wanted.
        let keep: @Sendable (Image) -> Void
        /// Called with the progress, if it is wanted.
        let report: (@Sendable (Progress) -> Void)?
        /// Called once.
        let complete: @Sendable (AFIDataResponse<Image>) -> Void
    }

    /// How far it is.
    enum Stage: Sendable {
        case preparing, queued, loading
        /// The image is there, and is handed on.
        case delivering
    }

    let id: UInt64
    let request: DataRequest
    var stage = Stage.preparing
    var waiters: [Waiter]
}
