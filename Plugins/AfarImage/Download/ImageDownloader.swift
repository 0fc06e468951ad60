public import AfarCore

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
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
