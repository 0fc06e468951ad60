#if canImport(FoundationNetworking)
    import FoundationNetworking
#else
    import Foundation
#endif

extension Request: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method, the URL and, after a response, its status: "GET https://example.com/ (200)". Passwords and tokens in the URL
    /// are redacted.
    public var description: String {
        guard let urlRequest = performedRequests.last ?? lastRequest else { return "A request that is not made yet" }
        return responseHead.map { "\(urlRequest.line) (\($0.status))" } ?? urlRequest.line
    }

    /// The state, request, response, error and metrics, on several lines. Secrets are redacted; bodies are shown up to a readable
    /// length.
    public var debugDescription: String {
        var report = Report(sensitiveHeaders: session.configuration.sensitiveHeaders)
        let retries = retryCount > 0 ? ", \(Quantity.count(retryCount, of: "retry", plural: "retries"))" : ""
        report.add("State", "\(state)\(retries)")
        report.add(performedRequests.last ?? lastRequest)
        report.add(response, body: (self as? DataRequest)?.data)
        report.add("Error", error.map { "\($0)" } ?? "none")
        report.add(metrics)
        return report.text
    }
}
