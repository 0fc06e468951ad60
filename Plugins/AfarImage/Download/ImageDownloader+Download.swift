public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension ImageDownloader {
    /// Fetches an image, unless the cache has it or another fetch is under way that brings it.
    ///
    /// A request with a cache policy that ignores caches is always sent, and what it brings is kept.
    ///
    /// - Parameters:
    ///   - urlRequest: What to fetch.
    ///   - cacheKey: The identifier under which the image is kept, after the filter. The default is nil: one that is made of the
    ///     request, the serializer's options and the filter's identifier.
    ///   - receiptID: The name of the receipt. The default is a new one.
    ///   - serializer: Decodes the image. The default is ``imageResponseSerializer``.
    ///   - filter: Makes another image of it, once for all who wait with the same identifier of a filter. The default is none.
    ///   - progress: Called with the progress.
    ///   - progressQueue: Where that is. The default is the main queue.
    ///   - queue: Where the completion is called. The default is the main queue: in a program whose main thread is blocked it is
    ///     never called.
    ///   - completion: Called once, also when the request is cancelled.
    /// - Returns: What it can be cancelled with; nil when the cache has the image, or there is no request to make.
    @preconcurrency
    @discardableResult
    public func download(
        _ urlRequest: any URLRequestConvertible,
        cacheKey: String? = nil,
        receiptID: String = UUID().uuidString,
        serializer: ImageResponseSerializer? = nil,
        filter: (any ImageFilter)? = nil,
        progress: ProgressHandler? = nil,
        progressQueue: DispatchQueue = .main,
        queue: DispatchQueue = .main,
        completion: CompletionHandler? = nil
    ) -> RequestReceipt? {
        let complete: @Sendable (AFIDataResponse<Image>) -> Void = { response in
            guard let completion else { return }
            queue.asyncKeepingTransport { completion(response) }
        }
        let request: URLRequest
        do {
            request = try urlRequest.asURLRequest()
        } catch {
            complete(.made(nil, .failure(AFIError(error.asAFError ?? .createURLRequestFailed(error: error)))))
            return nil
        }
        let serializer = serializer ?? imageResponseSerializer
        let credential = credential.withLock { $0 }
        let entry = CacheEntry(imageCache, request, cacheKey, serializer, credential, filter)
        if request.allowsCachedImage, let image = entry.image {
            complete(.made(request, .success(image)))
            return nil
        }
        let report = progress.map { progress in
            { @Sendable (value: Progress) in progressQueue.asyncKeepingTransport { progress(value) } }
        }
        let waiter = ImageFetch.Waiter(
            id: fetches.withLock { $0.makeID() }, filter: filter, keep: entry.keep, report: report, complete: complete)
        let key = ImageFetch.Key(request, serializer, credential)
        return RequestReceipt(
            request: fetch(request, key, serializer, credential, waiter), receiptID: receiptID, fetch: key,
            waiter: waiter.id)
    }

    /// Fetches several images; see ``download(_:cacheKey:receiptID:serializer:filter:progress:progressQueue:queue:completion:)``.
    ///
    /// - Parameters:
    ///   - urlRequests: What to fetch.
    ///   - filter: Makes another image of each. The default is none.
    ///   - progress: Called with the progress of each.
    ///   - progressQueue: Where that is. The default is the main queue.
    ///   - queue: Where the completion is called. The default is the main queue.
    ///   - completion: Called once for each request.
    /// - Returns: What they can be cancelled with, without those that the cache has.
    @preconcurrency
    @discardableResult
    public func download(
        _ urlRequests: [any URLRequestConvertible],
        filter: (any ImageFilter)? = nil,
        progress: ProgressHandler? = nil,
        progressQueue: DispatchQueue = .main,
        queue: DispatchQueue = .main,
        completion: CompletionHandler? = nil
    ) -> [RequestReceipt] {
        urlRequests.compactMap {
            download(
                $0, filter: filter, progress: progress, progressQueue: progressQueue, queue: queue,
                completion: completion)
        }
    }

    /// Stops waiting for an image: the completion gets ``AFIError/requestCancelled``, unless it has an image already. The
    /// request itself is cancelled when nobody else waits for it.
    public func cancelRequest(with requestReceipt: RequestReceipt) {
        guard let leaving = fetches.withLock({ $0.leave(requestReceipt.fetch, requestReceipt.waiter) }) else { return }
        if leaving.isLast { leaving.request.cancel() }
        for request in leaving.next { request.resume() }
        leaving.waiter.complete(.made(try? leaving.request.convertible.asURLRequest(), .failure(.requestCancelled)))
    }
}

extension URLRequest {
    /// Whether an image that was kept will do.
    fileprivate var allowsCachedImage: Bool {
        switch cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad: true
        default: false
        }
    }
}

extension DataResponse where Success == Image, Failure == AFIError {
    /// A response that no server gave.
    fileprivate static func made(_ request: URLRequest?, _ result: Result<Image, AFIError>) -> Self {
        Self(request: request, response: nil, data: nil, metrics: nil, serializationDuration: 0, result: result)
    }
}
