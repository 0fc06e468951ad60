import AfarCore
import AfarTransport
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends the requests of an upload with its session.
struct UploadClient: Sendable {
    /// A complete response.
    struct Reply: Sendable {
        let head: ResponseHead
        let response: HTTPURLResponse
        let data: Data
        /// The number of bytes in the request.
        let sentCount: Int64

        var status: Int { response.statusCode }

        func field(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
    }

    /// A request before the caller's headers are added.
    struct Message {
        var method: HTTPMethod
        var url: URL
        var headers: HTTPHeaders
        var body: Segment?
        /// Whether the response contains the URL of a new upload. Without this URL, the upload can't be deleted.
        var createsUpload = false
        /// The maximum number of 1xx responses, or nil for the session's limit.
        var maximumInformationalResponses: Int?
        /// Called for each 1xx response. If the closure throws, the request ends with that error.
        var onInformationalResponse: (@Sendable (HTTPURLResponse) throws -> Void)?
    }

    /// The number of seconds for which a creation request continues after a cancellation that deletes the upload. Its response contains the
    /// upload's URL.
    private static let creationGracePeriod = 5.0

    let upload: ResumableUpload
    let endpoint: UploadEndpoint
    let requests: UploadRequests

    private var session: Session { upload.session }
    var timeSource: TimeSource { session.configuration.timeSource }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Parameter didSend: Called with the number of bytes that have been sent, each time the transport requires more.
    /// - Throws: An ``Interruption`` after a temporary failure, an `AFError` after any other failure, or a `CancellationError`.
    func send(_ message: Message, didSend: @escaping @Sendable (Int64) -> Void = { _ in }) async throws -> Reply {
        let isSameOrigin = endpoint.hasSameOrigin(message.url)
        var urlRequest = URLRequest(url: isSameOrigin ? endpoint.requestURL(message.url) : message.url)
        urlRequest.httpMethod = message.method.rawValue
        urlRequest.cachePolicy = .reloadIgnoringLocalCacheData
        for header in Array(requests.headers) + Array(message.headers) {
            urlRequest.setValue(header.value, forHTTPHeaderField: header.name)
        }
        let failure = Locked<(any Error)?>(nil)
        let request: DataRequest
        let filter = isSameOrigin ? nil : CredentialFilter(session.configuration.sensitiveHeaders)
        let adapters = [requests.interceptor, filter].compactMap { $0 }
        let chosen: (any RequestInterceptor)? = adapters.isEmpty ? nil : Interceptor(interceptors: adapters)
        if let body = message.body {
            let upload = SegmentUpload(urlRequest: urlRequest, body: body, failure: failure, didSend: didSend)
            request = session.upload(upload, interceptor: chosen, shouldAutomaticallyResume: false)
        } else {
            request = session.request(urlRequest, interceptor: chosen, shouldAutomaticallyResume: false)
        }
        filter?.apply(to: request)
        // Every status is handled here. Without this validator, the request would use the session's validation.
        request.validate { _, _, _ in .success(()) }
        if let maximum = message.maximumInformationalResponses {
            request.options { $0.maximumInformationalResponses = maximum }
        }
        let monitor = message.onInformationalResponse.map { InformationalMonitor(failure: failure, handler: $0) }
        if let monitor { request.eventMonitor(monitor) }
        let response = await response(to: request, keepsCreation: message.createsUpload)
        await monitor?.finish()
        if let error = failure.withLock({ $0 }) { throw error }
        // The response can arrive just before a cancellation. It contains the URL of the upload, so the upload can be deleted
        // if requested.
        switch response.result {
        case .success(let data):
            guard let head = request.responseHead, let response = response.response else {
                throw AFError.sessionTaskFailed(error: URLError(.badServerResponse))
            }
            return Reply(head: head, response: response, data: data, sentCount: message.body?.count ?? 0)
        case .failure(let error):
            if Task.isCancelled { throw CancellationError() }
            throw Self.outcome(of: error)
        }
    }

    /// Starts a request and waits for its response. Canceling the task cancels the request.
    private func response(to request: DataRequest, keepsCreation: Bool) async -> AFDataResponse<Data> {
        let task = request.serializing(WholeResponse(), automaticallyCancelling: false)
        return await withTaskCancellationHandler {
            upload.start(request)
            defer { upload.finish(request) }
            return await task.response
        } onCancel: {
            guard keepsCreation, upload.deletesUpload else {
                request.cancel()
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.creationGracePeriod) { request.cancel() }
        }
    }

    /// Returns an interruption if the error is transient, and the error itself otherwise.
    private static func outcome(of error: AFError) -> any Error {
        guard case .sessionTaskFailed(let cause) = error else { return error }
        let isTransient =
            if let code = error.transportError?.code {
                transientCodes.contains(code)
            } else {
                (cause as? URLError).map { RetryPolicy.defaultRetryableURLErrorCodes.contains($0.code) } ?? false
            }
        return isTransient ? Interruption.transient(error, retryAfter: nil) : error
    }

    private static let transientCodes: Set<TransportError.Code> = [
        .connectionLost, .bodyIncomplete, .timedOut, .cannotFindHost, .cannotConnect, .notConnected, .proxyFailed,
    ]

    /// Returns the error for an unexpected status.
    ///
    /// The statuses of overloaded servers (408, 425, 429, 5xx) are interruptions. The statuses of conflicts (409, 423, and 460 in
    /// tus) are also interruptions, because a new offset resolves the conflict. 501 and 505 are final.
    func refusal(_ reply: Reply, to method: HTTPMethod, ofUpload: Bool) -> any Error {
        let method = method.rawValue
        switch reply.status {
        case 404 where ofUpload, 410 where ofUpload:
            return Interruption.gone(status: reply.status)
        case 413:
            let limit =
                reply.field("Tus-Max-Size").flatMap(UploadFields.integerItem)
                ?? reply.field("Upload-Limit").flatMap { UploadFields.integers($0, named: ["max-size"]) }?["max-size"]
            // Proxies limit the size of one request.
            return limit.map { ResumableUploadError.tooLarge(limit: $0) }
                ?? ResumableUploadError.requestTooLarge(byteCount: reply.sentCount)
        case 408, 425, 429,
            409 where ofUpload, 423 where ofUpload, 460 where ofUpload, 500, 502...504, 506...599:
            return Interruption.transient(
                TemporaryRefusal(method: method, status: reply.status),
                retryAfter: reply.head.retryAfter(now: timeSource.now).map { .seconds(min($0, 1e9)) })
        default:
            return ResumableUploadError.rejected(method: method, status: reply.status, data: reply.data)
        }
    }
}

/// Returns the body of any response.
private struct WholeResponse: ResponseSerializer {
    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> Data {
        if let error { throw error }
        return data ?? Data()
    }
}

/// A request whose body is a segment. The body can be sent again after a redirect or a challenge.
private struct SegmentUpload: UploadConvertible {
    let urlRequest: URLRequest
    let body: Segment
    let failure: Locked<(any Error)?>
    let didSend: @Sendable (Int64) -> Void

    func asURLRequest() -> URLRequest { urlRequest }

    func createUploadable() -> UploadRequest.Uploadable {
        let (body, failure, didSend) = (body, failure, didSend)
        return .chunks(
            RequestBodyStream(length: body.count, isReplayable: true) {
                let reader = body.makeReader()
                let count = Locked<Int64>(0)
                return {
                    // The transport requests a chunk only after it has sent the previous one.
                    didSend(count.withLock { $0 })
                    do {
                        guard let chunk = try await reader() else { return nil }
                        count.withLock { $0 += Int64(chunk.count) }
                        return chunk
                    } catch {
                        failure.withLock { $0 = $0 ?? error }
                        throw error
                    }
                }
            })
    }
}

/// Receives 1xx responses (RFC 9110, section 15.2). The transport limits their number.
private final class InformationalMonitor: EventMonitor {
    let queue = DispatchQueue(label: "afar.resumable-uploads.informational")
    private let failure: Locked<(any Error)?>
    private let handler: @Sendable (HTTPURLResponse) throws -> Void

    init(failure: Locked<(any Error)?>, handler: @escaping @Sendable (HTTPURLResponse) throws -> Void) {
        self.failure = failure
        self.handler = handler
    }

    func request(_ request: Request, didReceiveInformationalResponse response: HTTPURLResponse) {
        do {
            try handler(response)
        } catch {
            failure.withLock { $0 = $0 ?? error }
            request.cancel()
        }
    }

    /// Waits for the responses that have arrived.
    func finish() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
