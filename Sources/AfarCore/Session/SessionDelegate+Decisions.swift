import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The pipeline calls these methods. The closures run on the session's root queue.
extension SessionDelegate {
    typealias Challenge = (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Returns whether a closure must be called for a request before its response is complete.
    func participates(in request: Request) -> Bool {
        guard isListening else { return false }
        return handlesRedirects || handlesChallenges
            || !(request is DownloadRequest) && (receivesBodies || handlesResponses)
    }

    private var handlesResponses: Bool {
        dataTaskDidReceiveResponse != nil || dataTaskDidReceiveResponseWithCompletion != nil
    }

    /// Returns a listener that decides whether a request continues after a response head, or nil if no closure decides that.
    func headListener(for request: Request) -> Request.HeadListener? {
        guard isListening, handlesResponses, !(request is DownloadRequest) else { return nil }
        return { [weak self, weak request] response in
            guard let self, let request else { return .cancel }
            switch await disposition(of: response, to: request) {
            case .allow: return .allow
            case .cancel: return .cancel
            default:
                let problem = Problem(
                    "The session's delegate tried to turn a request into a download or a stream, which isn't supported. "
                        + "Create the request with Session.download or Session.streamRequest instead.")
                request.end(with: .sessionTaskFailed(error: problem))
                return .allow
            }
        }
    }

    private func disposition(
        of response: HTTPURLResponse, to request: Request
    ) async -> URLSession.ResponseDisposition {
        guard let task = request.lastTask as? URLSessionDataTask else { return .allow }
        return await withCancellableCallback(ifCancelled: .cancel) { answer in
            request.session.queues.root.async { [self] in
                if let closure = dataTaskDidReceiveResponseWithCompletion {
                    closure(.shared, task, response, answer)
                } else {
                    answer(dataTaskDidReceiveResponse?(.shared, task, response) ?? .allow)
                }
            }
        }
    }

    /// Whether the delegate has a closure that receives response bodies, except those of downloads.
    var receivesBodies: Bool { isListening && dataTaskDidReceiveData != nil }

    /// Passes a chunk to the closure instead of the request. Returns false if no closure receives chunks.
    func receive(_ chunk: Data, of request: Request) async -> Bool {
        guard isListening, dataTaskDidReceiveData != nil, let task = request.lastTask as? URLSessionDataTask
        else { return false }
        await request.onQueue(request.session.queues.root) { [self] in dataTaskDidReceiveData?(.shared, task, chunk) }
        return true
    }

    var receivesFiles: Bool { isListening && downloadTaskDidFinishDownloadingToURL != nil }

    /// Passes a download's file to the closure. The file stays in place during the call. Must be called on the root queue.
    func didDownload(_ file: URL, of download: Request) {
        guard receivesFiles, let task = download.lastTask as? URLSessionDownloadTask else { return }
        downloadTaskDidFinishDownloadingToURL?(.shared, task, file)
    }

    private var handlesRedirects: Bool {
        taskWillPerformHTTPRedirection != nil || taskWillPerformHTTPRedirectionWithCompletion != nil
    }

    /// Returns a handler that calls the closures for redirects, or nil if there are no such closures.
    func redirectHandler(on queue: DispatchQueue) -> (any RedirectHandler)? {
        isListening && handlesRedirects ? DelegateRedirects(delegate: self, queue: queue) : nil
    }

    var handlesChallenges: Bool {
        isListening && (taskDidReceiveChallenge != nil || taskDidReceiveChallengeWithCompletion != nil)
    }

    /// Returns whether the delegate has a closure that decides whether to trust servers' certificates. Task closures also handle
    /// credentials, so they count only if the transport supports this decision.
    func handlesServerTrust(over features: TransportCapabilities.Features) -> Bool {
        guard isListening else { return false }
        return sessionDidReceiveChallenge != nil || sessionDidReceiveChallengeWithCompletion != nil
            || handlesChallenges && features.contains(.serverTrust)
    }

    /// Returns a closure's answer to a challenge, or nil if no closure decides and the default applies.
    func respond(to challenge: URLAuthenticationChallenge, of request: Request) async -> Challenge? {
        guard challenge.isAboutServerTrust || handlesChallenges, let task = request.lastTask else { return nil }
        return await withCancellableCallback(ifCancelled: (.cancelAuthenticationChallenge, nil)) { answer in
            request.session.queues.root.async { [self] in
                if challenge.isAboutServerTrust, let closure = sessionDidReceiveChallengeWithCompletion {
                    closure(.shared, challenge) { answer(($0, $1)) }
                } else if challenge.isAboutServerTrust, let closure = sessionDidReceiveChallenge {
                    answer(closure(.shared, challenge))
                } else if let closure = taskDidReceiveChallengeWithCompletion {
                    closure(.shared, task, challenge) { answer(($0, $1)) }
                } else {
                    answer(taskDidReceiveChallenge?(.shared, task, challenge) ?? (.performDefaultHandling, nil))
                }
            }
        }
    }
}

private struct DelegateRedirects: RedirectHandler {
    let delegate: SessionDelegate
    let queue: DispatchQueue

    func task(
        _ task: URLSessionTask,
        willBeRedirectedTo request: URLRequest,
        for response: HTTPURLResponse,
        completion: @escaping @Sendable (URLRequest?) -> Void
    ) {
        queue.async { [delegate] in
            if let closure = delegate.taskWillPerformHTTPRedirectionWithCompletion {
                closure(.shared, task, response, request, completion)
            } else {
                completion(delegate.taskWillPerformHTTPRedirection?(.shared, task, response, request))
            }
        }
    }
}
