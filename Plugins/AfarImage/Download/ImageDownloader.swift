public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A downloader that fetches, filters and caches images. It limits concurrent downloads, sends identical requests once, and
/// filters images off the main queue.
///
/// Identical requests share a fetch. Two requests are identical if they have the same URL, method, header fields, body, cache
/// policy and credential, and equivalent serializers. You can call all methods from any thread.
public final class ImageDownloader: Sendable {
    /// A closure that is called once with the image or an error.
    public typealias CompletionHandler = @Sendable (AFIDataResponse<Image>) -> Void
    /// A closure that is called with the progress of a fetch.
    public typealias ProgressHandler = DataRequest.ProgressHandler

    /// The order in which waiting requests are sent.
    public enum DownloadPrioritization: Sendable {
        /// The oldest request is sent first.
        case fifo
        /// The newest request is sent first.
        case lifo
    }

    /// The session that sends the requests.
    public let session: Session
    /// The order in which waiting requests are sent.
    public let downloadPrioritization: DownloadPrioritization
    /// The maximum number of concurrent requests.
    public let maximumActiveDownloads: Int
    /// The cache for images, if any.
    public let imageCache: (any ImageRequestCache)?
    /// The serializer for downloads that don't specify one.
    public let imageResponseSerializer: ImageResponseSerializer
    let fetches: Locked<ImageFetches>
    let credential = Locked<URLCredential?>(nil)
    /// The queue on which filters run.
    let workQueue = DispatchQueue(label: "afar.image.downloader", attributes: .concurrent)

    /// Creates a downloader.
    ///
    /// - Parameters:
    ///   - session: The session that sends the requests, such as `AF`.
    ///   - downloadPrioritization: The order in which waiting requests are sent. By default, the oldest is sent first.
    ///   - maximumActiveDownloads: The maximum number of concurrent requests, at least 1. The default is 4.
    ///   - imageCache: The cache for images. The default cache holds 100 MB in memory. Nil turns caching off.
    ///   - imageResponseSerializer: The serializer for downloads that don't specify one.
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
        fetches = Locked(ImageFetches(downloadPrioritization, maximumActive: maximumActiveDownloads))
    }

    /// Sets the credential with which subsequent requests respond to challenges. For a single request, the equivalent is
    /// `authenticate(with:)`.
    public func addAuthentication(usingCredential credential: URLCredential) {
        self.credential.withLock { $0 = credential }
    }

    /// Sets the user name and password with which subsequent requests respond to challenges. For a single request, the equivalent is
    /// `authenticate(username:password:)`.
    ///
    /// - Parameters:
    ///   - user: The user name.
    ///   - password: The password.
    ///   - persistence: Has no effect, because only this downloader uses the credential.
    public func addAuthentication(
        user: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) {
        addAuthentication(usingCredential: URLCredential(user: user, password: password, persistence: persistence))
    }
}

// MARK: - Downloading

extension ImageDownloader {
    /// Fetches an image. Uses the cached image or joins an identical fetch if possible.
    ///
    /// A request whose cache policy ignores caches is always sent, and its image is stored in the cache.
    ///
    /// - Parameters:
    ///   - urlRequest: The request for the image.
    ///   - cacheKey: The identifier of the filtered image in the cache. If it's nil (the default), the identifier is derived from
    ///     the request, the serializer's options and the filter's identifier.
    ///   - receiptID: The identifier of the receipt. The default is a new UUID.
    ///   - serializer: The serializer that decodes the image. The default is ``imageResponseSerializer``.
    ///   - filter: The filter for the image. It runs once for all waiting downloads whose filter has the same identifier. The default
    ///     is none.
    ///   - progress: A closure that is called with the progress.
    ///   - progressQueue: The queue on which `progress` is called. The default is the main queue.
    ///   - queue: The queue on which `completion` is called. The default is the main queue, which doesn't call the completion
    ///     while the main thread is blocked.
    ///   - completion: A closure that is called once, even if the request is canceled.
    /// - Returns: A receipt for canceling the download; nil if the image is cached or the request is invalid.
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
            id: fetches.withLock { $0.makeID() }, filter: filter, store: entry.store, onProgress: report,
            onCompletion: complete)
        let key = ImageFetch.Key(request, serializer, credential)
        return RequestReceipt(
            request: fetch(request, key, serializer, credential, waiter), receiptID: receiptID, fetch: key,
            waiter: waiter.id)
    }

    /// Fetches several images; see ``download(_:cacheKey:receiptID:serializer:filter:progress:progressQueue:queue:completion:)``.
    ///
    /// - Parameters:
    ///   - urlRequests: The requests for the images.
    ///   - filter: The filter for the images. The default is none.
    ///   - progress: A closure that is called with the progress of each download.
    ///   - progressQueue: The queue on which `progress` is called. The default is the main queue.
    ///   - queue: The queue on which `completion` is called. The default is the main queue.
    ///   - completion: A closure that is called once for each request.
    /// - Returns: The receipts of the downloads. Cached images and invalid requests have no receipt.
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

    /// Cancels a download. Its completion receives ``AFIError/requestCancelled`` unless the completion has already received an image.
    /// The request itself is canceled if no other download waits for it.
    public func cancelRequest(with requestReceipt: RequestReceipt) {
        guard let removed = fetches.withLock({ $0.removeWaiter(requestReceipt.fetch, requestReceipt.waiter) }) else {
            return
        }
        if removed.isLast { removed.request.cancel() }
        for request in removed.next { request.resume() }
        removed.waiter.onCompletion(.made(try? removed.request.convertible.asURLRequest(), .failure(.requestCancelled)))
    }
}

extension URLRequest {
    fileprivate var allowsCachedImage: Bool {
        switch cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad: true
        default: false
        }
    }
}

extension DataResponse where Success == Image, Failure == AFIError {
    /// Returns a response that is created without sending a request.
    fileprivate static func made(_ request: URLRequest?, _ result: Result<Image, AFIError>) -> Self {
        Self(request: request, response: nil, data: nil, metrics: nil, serializationDuration: 0, result: result)
    }
}

// MARK: - Awaiting

extension ImageDownloader {
    /// Fetches an image. Uses the cached image or joins an identical fetch if possible. Canceling the task doesn't affect other
    /// downloads.
    ///
    /// - Parameters:
    ///   - urlRequest: The request for the image.
    ///   - cacheKey: The identifier of the filtered image in the cache. If it's nil (the default), the identifier is derived from
    ///     the request, the serializer's options and the filter's identifier.
    ///   - serializer: The serializer that decodes the image. The default is ``imageResponseSerializer``.
    ///   - filter: The filter for the image. The default is none.
    /// - Returns: The filtered image.
    /// - Throws: ``AFIError``.
    public func image(
        for urlRequest: any URLRequestConvertible,
        cacheKey: String? = nil,
        serializer: ImageResponseSerializer? = nil,
        filter: (any ImageFilter)? = nil
    ) async throws -> Image {
        let state = Locked<(receipt: RequestReceipt?, isCancelled: Bool)>((nil, false))
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

/// A receipt for a download of an ``ImageDownloader``.
public struct RequestReceipt: Sendable {
    /// The request, which several downloads can share. To cancel only this download, use ``ImageDownloader/cancelRequest(with:)``.
    public let request: DataRequest
    /// The identifier that the caller specified.
    public let receiptID: String
    let fetch: ImageFetch.Key
    let waiter: UInt64
}

extension RequestReceipt: CustomStringConvertible, CustomDebugStringConvertible {
    /// The receipt's identifier and the request, without its header fields and body.
    public var description: String { "RequestReceipt(\(receiptID), \(request.description))" }

    /// The same as ``description``.
    public var debugDescription: String { description }
}

/// The response of an ``ImageDownloader``.
public typealias AFIDataResponse<Success> = DataResponse<Success, AFIError>

/// An error of an ``ImageDownloader``.
public enum AFIError: Error {
    /// The request was canceled, with its receipt or in another way.
    case requestCancelled
    /// The response couldn't be decoded as an image.
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
    /// A one-line description of the error.
    public var errorDescription: String? {
        switch self {
        case .requestCancelled: "The image request was canceled."
        case .imageSerializationFailed(let error): error.errorDescription
        case .alamofireError(let error): error.errorDescription
        }
    }
}

extension AFIError {
    /// A Boolean value that indicates whether the error is ``requestCancelled``.
    public var isRequestCancelledError: Bool {
        if case .requestCancelled = self { true } else { false }
    }

    /// A Boolean value that indicates whether the error is ``imageSerializationFailed(_:)``.
    public var isImageSerializationFailedError: Bool {
        if case .imageSerializationFailed = self { true } else { false }
    }

    /// A Boolean value that indicates whether the error is ``alamofireError(_:)``.
    public var isAlamofireError: Bool {
        if case .alamofireError = self { true } else { false }
    }
}
