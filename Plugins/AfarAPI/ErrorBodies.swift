public import AfarCore
public import Foundation

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
    /// If a body is decoded, the request fails with ``AfarCore/AFError/ResponseValidationFailureReason/customValidationFailed(error:)``,
    /// which contains a ``AfarCore/RejectedResponse``. ``Swift/Error/decoded(as:)`` returns the decoded error, and
    /// ``AfarCore/AFError/responseCode`` the status code.
    ///
    /// If the body exceeds the limit, has another content type or can't be decoded, the request fails with
    /// ``AfarCore/AFError/ResponseValidationFailureReason/unacceptableStatusCode(code:)``. In both cases, the response's `data`, or
    /// the request's `fileURL` for a download, still contains the body. A stream request doesn't deliver the body, but reads it
    /// itself, and the request's idle timeout applies.
    ///
    /// - Parameters:
    ///   - acceptableStatusCodes: The status codes of successful responses. The default is 200 to 299.
    ///   - type: The type of the error.
    ///   - acceptableContentTypes: The media types of bodies to decode, such as "application/json", without parameters. `application/*`
    ///     matches every type that begins with `application/`, and `*/*` matches every type. The default is nil, which means
    ///     ``ProblemDetails/contentType`` for ``ProblemDetails``, and any type otherwise.
    ///   - decoder: Decodes the body. The default is a `JSONDecoder` for ``ProblemDetails``, and the session's decoder otherwise.
    ///   - limit: The maximum size of a body to decode, in bytes. The default is 64 KiB.
    @discardableResult
    public func validate<Failure: Decodable & Error, Codes: Sequence & Sendable>(
        statusCode acceptableStatusCodes: Codes = 200..<300,
        decoding type: Failure.Type,
        contentType acceptableContentTypes: [String]? = nil,
        using decoder: any DataDecoder = SessionDecoder(),
        limit: Int = 64 * 1024
    ) -> Self where Codes.Element == Int {
        // Problem details are always JSON with standard keys, so the session's decoder isn't used.
        let own: any DataDecoder = type == ProblemDetails.self ? JSONDecoder() : sessionConfiguration.decoder
        return validate(
            readingBodyUpTo: limit,
            bodyValidation(
                acceptableStatusCodes, type, acceptableContentTypes, decoder is SessionDecoder ? own : decoder))
    }
}

extension ResponseValidation {
    /// Requires an acceptable status code, and decodes the body of any other response as an error. See
    /// ``AfarCore/Request/validate(statusCode:decoding:contentType:using:limit:)``.
    ///
    /// ```swift
    /// configuration.validation = .decoding(ProblemDetails.self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the error.
    ///   - acceptableStatusCodes: The status codes of successful responses. The default is 200 to 299.
    ///   - acceptableContentTypes: The media types of bodies to decode. The default is nil, which means
    ///     ``ProblemDetails/contentType`` for ``ProblemDetails``, and any type otherwise.
    ///   - decoder: Decodes the body. The default is a `JSONDecoder`.
    ///   - limit: The maximum size of a body to decode, in bytes. The default is 64 KiB.
    public static func decoding<Failure: Decodable & Error, Codes: Sequence & Sendable>(
        _ type: Failure.Type,
        statusCode acceptableStatusCodes: Codes = 200..<300,
        contentType acceptableContentTypes: [String]? = nil,
        using decoder: any DataDecoder = JSONDecoder(),
        limit: Int = 64 * 1024
    ) -> ResponseValidation where Codes.Element == Int {
        ResponseValidation(
            readingBodyUpTo: limit, bodyValidation(acceptableStatusCodes, type, acceptableContentTypes, decoder))
    }
}

private func bodyValidation<Failure: Decodable & Error, Codes: Sequence & Sendable>(
    _ acceptableStatusCodes: Codes, _ type: Failure.Type, _ acceptableContentTypes: [String]?,
    _ decoder: any DataDecoder
) -> Request.BodyValidation where Codes.Element == Int {
    let types = acceptableContentTypes ?? (type == ProblemDetails.self ? [ProblemDetails.contentType] : ["*/*"])
    return { _, head in
        guard !acceptableStatusCodes.contains(head.status) else { return nil }
        let failure = AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: head.status))
        let contentType = head.mediaType.essence
        guard types.contains(where: { $0.lowercased().matches(contentType) }) else { throw failure }
        return { body in
            guard let body, !body.isEmpty else { return failure }
            return (try? decoder.decode(type, from: body, of: head)) ?? failure
        }
    }
}

extension String {
    /// Whether a media range, such as `application/*`, includes a media type.
    fileprivate func matches(_ type: String) -> Bool {
        self == "*/*" || self == type || hasSuffix("/*") && type.hasPrefix(dropLast())
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
        case .responseValidationFailed(.customValidationFailed(let error)):
            error as? Failure ?? (error as? RejectedResponse)?.underlyingError as? Failure
        case .requestRetryFailed(_, let originalError): originalError.decoded(as: type)
        default: nil
        }
    }
}
