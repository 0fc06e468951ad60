public import AfarCore
import Foundation

extension Request {
    /// Requires an acceptable status code, and decodes the body of any other response as an error.
    ///
    /// ```swift
    /// let user = try await session.request("https://api.example.com/users/1")
    ///     .validate(decoding: ProblemDetails.self)
    ///     .serializingDecodable(User.self)
    ///     .value
    /// ```
    ///
    /// The request fails with ``AfarCore/AFError/ResponseValidationFailureReason/customValidationFailed(error:)``, which contains
    /// the decoded error. ``Swift/Error/decoded(as:)`` returns the decoded error.
    ///
    /// If the body exceeds the limit, has another content type or can't be decoded, the request fails with
    /// ``AfarCore/AFError/ResponseValidationFailureReason/unacceptableStatusCode(code:)``. In both cases, the response's `data`, or
    /// the request's `fileURL` for a download, still contains the body. A stream request reads the body instead of delivering it,
    /// within the request's idle timeout.
    ///
    /// - Parameters:
    ///   - acceptableStatusCodes: The status codes of successful responses. The default is 200 to 299.
    ///   - type: The type of the error.
    ///   - acceptableContentTypes: The media types of bodies to decode, such as "application/json", without parameters. `*/*`
    ///     matches every type. The default is nil, which means ``ProblemDetails/contentType`` for ``ProblemDetails``, and any type
    ///     otherwise.
    ///   - decoder: Decodes the body. The default is the session's decoder.
    ///   - limit: The maximum size of a body to decode, in bytes. The default is 64 KiB.
    @discardableResult
    public func validate<Failure: Decodable & Error, Codes: Sequence & Sendable>(
        statusCode acceptableStatusCodes: Codes = 200..<300,
        decoding type: Failure.Type,
        contentType acceptableContentTypes: [String]? = nil,
        using decoder: any DataDecoder = SessionDecoder(),
        limit: Int = 64 * 1024
    ) -> Self where Codes.Element == Int {
        let decoder = decoder is SessionDecoder ? sessionConfiguration.decoder : decoder
        let types = acceptableContentTypes ?? (type == ProblemDetails.self ? [ProblemDetails.contentType] : ["*/*"])
        return validate(readingBodyUpTo: limit) { _, head in
            guard !acceptableStatusCodes.contains(head.status) else { return nil }
            let failure = AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: head.status))
            let contentType = head.mediaType.essence
            guard types.contains(where: { $0 == "*/*" || $0.lowercased() == contentType }) else { throw failure }
            return { body in
                guard let body, !body.isEmpty else { return failure }
                return (try? decoder.decode(type, from: body, of: head)) ?? failure
            }
        }
    }
}

extension Error {
    /// Returns the error that ``AfarCore/Request/validate(statusCode:decoding:contentType:using:limit:)`` decoded from the body of a
    /// response, or that another validator returned. Returns nil if a request failed for another reason.
    ///
    /// ```swift
    /// do {
    ///     try await deleteUser()
    /// } catch {
    ///     print(error.decoded(as: ProblemDetails.self)?.title ?? "\(error)")
    /// }
    /// ```
    public func decoded<Failure: Error>(as type: Failure.Type) -> Failure? {
        switch asAFError {
        case .responseValidationFailed(.customValidationFailed(let error)): error as? Failure
        case .requestRetryFailed(_, let originalError): originalError.decoded(as: type)
        default: nil
        }
    }
}
