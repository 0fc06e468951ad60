public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension DownloadRequest {
    /// A task that shows what resume data asks for: its requests are the one for the bytes that are missing, without
    /// credentials.
    ///
    /// It is no attempt: to resume a download, use
    /// ``Session/download(resumingWith:interceptor:shouldAutomaticallyResume:to:)``. Resuming, suspending or cancelling
    /// the task does that to this request. The task of data that cannot be used has no requests.
    ///
    /// - Parameters:
    ///   - data: What ``resumeData`` gave.
    ///   - session: Not used: no `URLSession` carries requests.
    public func task(forResumeData data: Data, using session: URLSession) -> URLSessionTask {
        let sensitiveHeaders = self.session.configuration.sensitiveHeaders
        let request = try? ResumeData(decoding: data).urlRequestForRest(without: sensitiveHeaders)
        return makeTask(resuming: self, with: request)
    }
}

extension ResumeData {
    /// The request that asks for what is missing.
    fileprivate func urlRequestForRest(without sensitiveHeaders: Set<String>) throws -> URLRequest {
        var request = try urlRequest(without: sensitiveHeaders)
        for field in fields(from: byteCount) { request.headers.update(field) }
        return request
    }
}
