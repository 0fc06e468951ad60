public import AfarCore
import Foundation

extension ImageDownloader {
    /// Fetches an image, unless the cache has it or another fetch is under way that brings it. When the task is cancelled,
    /// others go on waiting.
    ///
    /// - Parameters:
    ///   - urlRequest: What to fetch.
    ///   - cacheKey: The identifier under which the image is kept, after the filter. The default is nil: one that is made of the
    ///     request, the serializer's options and the filter's identifier.
    ///   - serializer: Decodes the image. The default is ``imageResponseSerializer``.
    ///   - filter: Makes another image of it. The default is none.
    /// - Throws: ``AFIError``.
    public func image(
        for urlRequest: any URLRequestConvertible,
        cacheKey: String? = nil,
        serializer: ImageResponseSerializer? = nil,
        filter: (any ImageFilter)? = nil
    ) async throws -> Image {
        let state = Guarded<(receipt: RequestReceipt?, isCancelled: Bool)>((nil, false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let receipt = download(
                    urlRequest, cacheKey: cacheKey, serializer: serializer, filter: filter, queue: workQueue
                ) { continuation.resume(with: $0.result) }
                let isCancelled = state.withLock { state in
                    state.receipt = receipt
                    return state.isCancelled
                }
                if isCancelled, let receipt { cancelRequest(with: receipt) }
            }
        } onCancel: {
            let receipt = state.withLock { state in
                state.isCancelled = true
                return state.receipt
            }
            if let receipt { cancelRequest(with: receipt) }
        }
    }
}
