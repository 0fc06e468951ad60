import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// What the pipeline asks the closures that decide. Each is asked on the session's root queue.
extension SessionDelegate {
    typealias Challenge = (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Whether a closure wants a say about a response before all of it is there.
    func takesPart(in request: Request) -> Bool {
        guard isListening, !(request is DownloadRequest) else { return false }
        return takesBodies || decidesAboutResponses
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
                request.end(with: .sessionTaskFailed(error: NoSuchDisposition()))
                return .allow
            }
        }
    }

    private func disposition(
        of response: HTTPURLResponse, to request: Request
    ) async -> URLSession.ResponseDisposition {
        guard let task = request.lastTask as? URLSessionDataTask else { return .allow }
        return await oneAnswer(ifCancelled: .cancel) { answer in
            request.context.rootQueue.async { [self] in
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
        guard isListening, let closure = dataTaskDidReceiveData, let task = request.lastTask as? URLSessionDataTask
        else { return false }
        await request.onQueue(request.context.rootQueue) { closure(.shared, task, chunk) }
        return true
    }

    /// Shows a download's file, which stays where it is meanwhile.
    func show(_ file: URL, of download: DownloadRequest) async {
        guard isListening, let closure = downloadTaskDidFinishDownloadingToURL,
            let task = download.lastTask as? URLSessionDownloadTask
        else { return }
        await download.onQueue(download.context.rootQueue) { closure(.shared, task, file) }
    }

    // MARK: Redirects and challenges

    /// Whether a closure decides about redirects.
    var decidesAboutRedirects: Bool {
        isListening
            && (taskWillPerformHTTPRedirection != nil || taskWillPerformHTTPRedirectionWithCompletion != nil)
    }

    /// What the closures want to be sent because of a redirect; nil when it is not to be followed.
    ///
    /// - Parameter proposal: What would be sent.
    func redirection(of request: Request, to proposal: URLRequest, after response: HTTPURLResponse) async -> URLRequest?
    {
        guard let task = request.lastTask else { return proposal }
        return await oneAnswer(ifCancelled: nil) { answer in
            request.context.rootQueue.async { [self] in
                if let closure = taskWillPerformHTTPRedirectionWithCompletion {
                    closure(.shared, task, response, proposal, answer)
                } else if let closure = taskWillPerformHTTPRedirection {
                    answer(closure(.shared, task, response, proposal))
                } else {
                    answer(proposal)
                }
            }
        }
    }

    /// What the closures say to a challenge; nil when there is none, so that the default is done.
    func answer(to challenge: URLAuthenticationChallenge, of request: Request) async -> Challenge? {
        guard isListening, taskDidReceiveChallenge != nil || taskDidReceiveChallengeWithCompletion != nil,
            let task = request.lastTask
        else { return nil }
        return await oneAnswer(ifCancelled: (.cancelAuthenticationChallenge, nil)) { answer in
            request.context.rootQueue.async { [self] in
                if let closure = taskDidReceiveChallengeWithCompletion {
                    closure(.shared, task, challenge) { answer(($0, $1)) }
                } else {
                    answer(taskDidReceiveChallenge?(.shared, task, challenge) ?? (.performDefaultHandling, nil))
                }
            }
        }
    }
}

/// A delegate wants a request to become what it cannot become.
private struct NoSuchDisposition: LocalizedError {
    var errorDescription: String? {
        "The session's delegate wants a request to become another kind of request when its response has come. "
            + "Make it with Session.download or Session.streamRequest instead."
    }
}
