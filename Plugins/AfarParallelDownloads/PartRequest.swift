import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Creates the request for the rest of a part. Each attempt creates a new request, so a retry by any retrier requests only the missing
/// bytes.
struct PartRequest: URLRequestConvertible {
    let convertible: any URLRequestConvertible
    let part: Part
    let requestsDigest: Bool

    func asURLRequest() throws -> URLRequest {
        var urlRequest = try convertible.asURLRequest()
        let conditions = ["Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"]
        guard urlRequest.httpMethod ?? "GET" == "GET", urlRequest.httpBody == nil, urlRequest.httpBodyStream == nil,
            conditions.allSatisfy({ urlRequest.value(forHTTPHeaderField: $0) == nil })
        else { throw ParallelDownloadError.unsupportedRequest }
        for field in try part.fields() { urlRequest.setValue(field.value, forHTTPHeaderField: field.name) }
        if requestsDigest { urlRequest.setValue(FileDigest.preferences, forHTTPHeaderField: "Want-Repr-Digest") }
        return urlRequest
    }
}

/// Writes the body of a response to its place in the file.
struct PartWriter: DataStreamParser {
    let part: Part

    func parse(_ chunk: Data) -> [Result<Never, AFError>] {
        part.write(chunk) ? [] : [.failure(.explicitlyCancelled)]
    }
}

/// Retries the requests of a part after transient failures, but only after the download has begun.
struct PartRetrier: RequestInterceptor {
    private static let limit = 5
    /// The longest `Retry-After` to wait for, in seconds.
    private static let longestDelay = 60.0
    private static let policy = RetryPolicy(
        retryableHTTPStatusCodes: RetryPolicy.defaultRetryableHTTPStatusCodes.union([429]))

    let part: Part

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard part.hasBegun, !part.hasWholeResponse, error.ownError == nil,
            Self.policy.shouldRetry(request: request, dueTo: error)
        else {
            return completion(.doNotRetry)
        }
        let failures = part.countFailure()
        let requested = request.responseHead?.retryAfter(now: session.configuration.timeSource.now) ?? 0
        guard failures <= Self.limit, requested <= Self.longestDelay else { return completion(.doNotRetry) }
        completion(.retryWithDelay(max(requested, 0.25 * Double(1 << failures))))
    }
}

extension Error {
    /// This error, or the underlying error of an `AFError`, if it comes from this module or from the verification of a digest.
    var ownError: (any Error)? {
        let error = asAFError?.underlyingError ?? self
        return error is ParallelDownloadError || error is Part.NoParts || error is DigestError ? error : nil
    }
}
