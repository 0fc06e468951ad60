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
        private let serializer: String
        private let credential: String?
        /// As long as this key is used, no other serializer has the address that its identity may be.
        private let keptSerializer: Kept

        init(_ request: URLRequest, _ serializer: ImageResponseSerializer, _ credential: URLCredential?) {
            self.request = request.imageIdentity
            cachePolicy = request.cachePolicy
            self.serializer = serializer.identity
            self.credential = credential?.imageIdentity
            keptSerializer = Kept(serializer: serializer)
        }

        /// Is equal to every other one.
        private struct Kept: Hashable, Sendable {
            let serializer: ImageResponseSerializer

            static func == (lhs: Self, rhs: Self) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
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
        /// The image is there, and is filtered and handed on. It is active for as long, if it was before.
        case delivering(isActive: Bool)
    }

    let id: UInt64
    let request: DataRequest
    var stage = Stage.preparing
    var waiters: [Waiter]

    var isDelivering: Bool {
        if case .delivering = stage { true } else { false }
    }
}
