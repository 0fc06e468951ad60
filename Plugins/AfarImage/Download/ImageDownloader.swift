public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Fetches images, a few at a time, each once for all who want it, filters them off the main queue and keeps them.
///
/// Requests are identical, and share one fetch, when they have the same URL, method, header fields and body, the same cache
/// policy and credential, and serializers that make the same of a response. All methods may be called from any thread.
public final class ImageDownloader: Sendable {
    /// Called once with the image, or with what went wrong.
    public typealias CompletionHandler = @Sendable (AFIDataResponse<Image>) -> Void
    /// Called with the progress of a fetch.
    public typealias ProgressHandler = DataRequest.ProgressHandler

    /// Which request is sent next when several wait.
    public enum DownloadPrioritization: Sendable {
        /// The one that has waited longest.
        case fifo
        /// The newest one.
        case lifo
    }

    /// Makes the requests.
    public let session: Session
    /// Which request is sent next when several wait.
    public let downloadPrioritization: DownloadPrioritization
    /// How many requests are under way at once.
    public let maximumActiveDownloads: Int
    /// Keeps the images; nil when nothing does.
    public let imageCache: (any ImageRequestCache)?
    /// Decodes images where a download has no serializer of its own.
    public let imageResponseSerializer: ImageResponseSerializer
    let fetches: Guarded<ImageFetches>
    let credential = Guarded<URLCredential?>(nil)
    /// Where filters run.
    let workQueue = DispatchQueue(label: "afar.image.downloader", attributes: .concurrent)

    /// Makes a downloader.
    ///
    /// - Parameters:
    ///   - session: Makes the requests: `AF`, say.
    ///   - downloadPrioritization: Which request is sent next when several wait. The default is the one that has waited longest.
    ///   - maximumActiveDownloads: How many requests are under way at once, at least 1. The default is 4.
    ///   - imageCache: Keeps the images. The default keeps 100 MB in memory; nil keeps none.
    ///   - imageResponseSerializer: Decodes images where a download has no serializer of its own.
    public init(
        session: Session,
        downloadPrioritization: DownloadPrioritization = .fifo,
        maximumActiveDownloads: Int = 4,
        imageCache: (any ImageRequestCache)? = AutoPurgingImageCache(),
        imageResponseSerializer: ImageResponseSerializer = ImageResponseSerializer()
    ) {
        self.session = session
        self.downloadPrioritization = downloadPrioritization
        self.maximumActiveDownloads = max(1, maximumActiveDownloads)
        self.imageCache = imageCache
        self.imageResponseSerializer = imageResponseSerializer
        fetches = Guarded(ImageFetches(downloadPrioritization, maximumActive: maximumActiveDownloads))
    }

    /// Answers challenges to all requests that are made from now on, as `authenticate(with:)` does.
    public func addAuthentication(usingCredential credential: URLCredential) {
        self.credential.withLock { $0 = credential }
    }

    /// Answers challenges to all requests that are made from now on, as `authenticate(username:password:)` does.
    ///
    /// - Parameters:
    ///   - user: The user's name.
    ///   - password: The password.
    ///   - persistence: Has no effect: the credential is this downloader's and is stored nowhere.
    public func addAuthentication(
        user: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) {
        addAuthentication(usingCredential: URLCredential(user: user, password: password, persistence: persistence))
    }
}

// MARK: - Downloading

extension ImageDownloader {
    /// Fetches an image, unless the cache has it or another fetch is under way that brings it.
    ///
    /// A request with a cache policy that ignores caches is always sent, and its image is stored in the cache.
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
    /// request itself is cancelled if it has no other waiters.
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

// MARK: - Awaiting

extension ImageDownloader {
    /// Fetches an image, unless the cache has it or another fetch is under way that brings it. When the task is cancelled,
    /// other waiters are not affected.
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

// MARK: - Receipts and responses

/// Stands for one of those who wait for an image of an ``ImageDownloader``.
public struct RequestReceipt: Sendable {
    /// The request, which others may wait for as well: cancel with ``ImageDownloader/cancelRequest(with:)``, which leaves it to
    /// them.
    public let request: DataRequest
    /// What the caller named it.
    public let receiptID: String
    let fetch: ImageFetch.Key
    let waiter: UInt64
}

extension RequestReceipt: CustomStringConvertible, CustomDebugStringConvertible {
    /// The receipt's name and the request, without its header fields and body.
    public var description: String { "RequestReceipt(\(receiptID), \(request.description))" }

    /// The same as ``description``.
    public var debugDescription: String { description }
}

/// The response of an ``ImageDownloader``.
public typealias AFIDataResponse<Success> = DataResponse<Success, AFIError>

/// Why an ``ImageDownloader`` has no image.
public enum AFIError: Error {
    /// The request was cancelled, by its receipt or otherwise.
    case requestCancelled
    /// The response is no image, or none that could be decoded.
    case imageSerializationFailed(ImageError)
    /// The request failed.
    case alamofireError(AFError)

    init(_ error: AFError) {
        if let cause = error.underlyingError as? ImageError {
            self = .imageSerializationFailed(cause)
        } else {
            self = error.isExplicitlyCancelledError ? .requestCancelled : .alamofireError(error)
        }
    }
}

extension AFIError: LocalizedError {
    /// What went wrong, in one line.
    public var errorDescription: String? {
        switch self {
        case .requestCancelled: "The image was not wanted any more: its request was cancelled."
        case .imageSerializationFailed(let error): error.errorDescription
        case .alamofireError(let error): error.errorDescription
        }
    }
}

extension AFIError {
    /// Whether this is ``requestCancelled``.
    public var isRequestCancelledError: Bool {
        if case .requestCancelled = self { true } else { false }
    }

    /// Whether this is ``imageSerializationFailed(_:)``.
    public var isImageSerializationFailedError: Bool {
        if case .imageSerializationFailed = self { true } else { false }
    }

    /// Whether this is ``alamofireError(_:)``.
    public var isAlamofireError: Bool {
        if case .alamofireError = self { true } else { false }
    }
}
