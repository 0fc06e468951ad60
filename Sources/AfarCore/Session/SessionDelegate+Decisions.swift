import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// What the pipeline asks the closures that decide. Each is asked on the session's root queue.
extension SessionDelegate {
    typealias Challenge = (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Whether a closure wants a say about a response before all of it is there.
    func takesPart(in request: Request) -> Bool {
        guard isListening else { return false }
        return decidesAboutRedirects || decidesAboutChallenges
            || !(request is DownloadRequest) && (takesBodies || decidesAboutResponses)
    }

    // MARK: Responses

    private var decidesAboutResponses: Bool {
        dataTaskDidReceiveResponse != nil || dataTaskDidReceiveResponseWithCompletion != nil
    }

    /// Decides about the heads of a request's responses; nil when no closure does.
    func headListener(for request: Request) -> Request.HeadListener? {
        guard isListening, decidesAboutResponses, !(request is DownloadRequest) else { return nil }
        return { [weak self, weak request] response in
            guard let self, let request else { return .cancel }
            switch await disposition(of: response, to: request) {
            case .allow: return .allow
            case .cancel: return .cancel
            default:
                request.end(with: .sessionTaskFailed(error: UnsupportedDisposition()))
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

    // MARK: Bodies

    /// Whether a closure takes the bodies of responses that are not downloads.
    var takesBodies: Bool { isListening && dataTaskDidReceiveData != nil }

    /// Takes a chunk in place of its request. Returns false when no closure does.
    func take(_ chunk: Data, of request: Request) async -> Bool {
        guard isListening, dataTaskDidReceiveData != nil, let task = request.lastTask as? URLSessionDataTask
        else { return false }
        await request.onQueue(request.session.queues.root) { [self] in dataTaskDidReceiveData?(.shared, task, chunk) }
        return true
    }

    /// Whether a closure wants to see the files of downloads.
    var takesFiles: Bool { isListening && downloadTaskDidFinishDownloadingToURL != nil }

    /// Shows a download's file, which stays where it is meanwhile. To be called on the root queue.
    func show(_ file: URL, of download: Request) {
        guard takesFiles, let task = download.lastTask as? URLSessionDownloadTask else { return }
        downloadTaskDidFinishDownloadingToURL?(.shared, task, file)
    }

    // MARK: Redirects and challenges

    private var decidesAboutRedirects: Bool {
        taskWillPerformHTTPRedirection != nil || taskWillPerformHTTPRedirectionWithCompletion != nil
    }

    /// Asks the closures about redirects; nil when there is none.
    func redirectHandler(on queue: DispatchQueue) -> (any RedirectHandler)? {
        isListening && decidesAboutRedirects ? DelegateRedirects(delegate: self, queue: queue) : nil
    }

    /// Whether a closure decides about challenges.
    var decidesAboutChallenges: Bool {
        isListening && (taskDidReceiveChallenge != nil || taskDidReceiveChallengeWithCompletion != nil)
    }

    /// Whether a closure decides about servers' certificates. Those about tasks do so where that is possible: they are there for
    /// credentials as well.
    func decidesAboutServerTrust(over features: TransportCapabilities.Features) -> Bool {
        guard isListening else { return false }
        return sessionDidReceiveChallenge != nil || sessionDidReceiveChallengeWithCompletion != nil
            || decidesAboutChallenges && features.contains(.serverTrust)
    }

    /// What the closures say to a challenge; nil when there is none, so that the default is done.
    func answer(to challenge: URLAuthenticationChallenge, of request: Request) async -> Challenge? {
        guard challenge.isAboutServerTrust || decidesAboutChallenges, let task = request.lastTask else { return nil }
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

/// Asks a delegate's closures about redirects.
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

/// A delegate wants a request to become what it cannot become.
private struct UnsupportedDisposition: LocalizedError {
    var errorDescription: String? {
        "The session's delegate wants a request to become another kind of request when its response has come. "
            + "Make it with Session.download or Session.streamRequest instead."
    }
}
