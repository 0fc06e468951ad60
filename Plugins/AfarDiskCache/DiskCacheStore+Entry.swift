public import Foundation

extension DiskCacheStore {
    /// One response that is kept, without its contents.
    public struct Entry: Sendable, Hashable {
        /// The URL that was asked.
        public let url: String
        /// What tells it from others of the same URL; see `CachedResponse.variant`.
        public let variant: String
        /// The status code.
        public let status: Int
        /// How many bytes the body has.
        public let bodyByteCount: Int
        /// When the response came, or was last found to be valid.
        public let responseDate: Date
        /// When it was last used, to about a minute.
        public let lastUse: Date
    }
}
