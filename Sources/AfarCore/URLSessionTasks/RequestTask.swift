import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt of a request in the shape of Foundation's task, for code that wants to have one. What it shows and does is
/// its attempt's.
protocol RequestTask: URLSessionTask {
    init()
    var attempt: TaskAttempt? { get set }
}

/// Makes the task of an attempt: a download task for a download, else an upload task, which is a data task too.
func makeTask(_ urlRequest: URLRequest, of request: Request, ending: TaskAttempt.Snapshot? = nil) -> any RequestTask {
    let attempt = TaskAttempt(urlRequest, of: request, ending: ending)
    return request is DownloadRequest
        ? instance(of: DownloadRequestTask.self, attempt) : instance(of: DataRequestTask.self, attempt)
}

/// Makes the task that shows what a download would request to be resumed; without a request, one that is over.
func makeTask(resuming download: DownloadRequest, with urlRequest: URLRequest?) -> any RequestTask {
    instance(of: DownloadRequestTask.self, urlRequest.map { TaskAttempt($0, of: download) })
}

// Foundation deprecates this initializer on Apple's platforms, as a warning to those who would make tasks that do nothing.
// Reached through a protocol, it is the same on all platforms.
private func instance<Made: RequestTask>(of type: Made.Type, _ attempt: TaskAttempt?) -> Made {
    let task = type.init()
    task.attempt = attempt
    return task
}
