public import Foundation

extension ImageResponseSerializer {
    private static let contentTypes = Guarded<Set<String>>([
        "application/octet-stream", "binary/octet-stream", "image/apng", "image/jpeg", "image/jpg", "image/pjpeg",
        "image/png", "image/webp", "image/x-png",
    ])

    /// The scale of images where nothing else is said: 1.
    public static var defaultImageScale: CGFloat { 1 }

    /// The media types that a response may have where a serializer has none of its own. A response without a
    /// Content-Type is accepted there, too.
    public static var acceptableImageContentTypes: Set<String> { contentTypes.withLock { $0 } }

    /// Adds to the media types that a response may have, for all serializers that have none of their own. May be called from
    /// any thread.
    ///
    /// - Parameter types: Media types without parameters, "image/x-icon" say.
    public static func addAcceptableImageContentTypes(_ types: Set<String>) {
        contentTypes.withLock { $0.formUnion(lowercased(types)) }
    }

    static func lowercased(_ types: Set<String>) -> Set<String> { Set(types.map { $0.lowercased() }) }
}
