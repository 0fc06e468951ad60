#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension DataStreamRequest {
    /// Looks at a response's head: the request sent and the head, before the first chunk is handed on.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse) -> ValidationResult

    /// Adds a validator. Validators run in the order in which they were added, when a response's head is there; the first
    /// failure ends the request, as it is, or as
    /// ``AFError/ResponseValidationFailureReason/customValidationFailed(error:)`` when it is no ``AFError``.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        append { request, head in
            guard let response = head.httpURLResponse else { throw AFError.invalidURL(url: head.url) }
            try validation(request, response).get()
        }
        return self
    }

    /// Requires the status code to be one of these.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
        append { _, head in try ResponseRules.check(status: head.status, isIn: acceptableStatusCodes) }
        return self
    }

    /// Requires the response's media type to be one of these; `*` stands for any type or subtype. A response that says it
    /// has no body is of every type.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        append { _, head in
            guard head.mayHaveBody else { return }
            try ResponseRules.check(contentTypeOf: head, isIn: Array(acceptableContentTypes()))
        }
        return self
    }

    /// Requires a status code from 200 to 299, and a media type that the request's `Accept` header names, if it has one.
    @discardableResult
    public func validate() -> Self {
        append { request, head in
            try ResponseRules.checkDefaults(head, for: request, hasBody: head.mayHaveBody)
        }
        return self
    }
}

extension ResponseHead {
    /// Whether a body may follow, as far as the head tells (RFC 9112, section 6.3).
    fileprivate var mayHaveBody: Bool { contentLength != 0 && status != 204 && status != 304 }
}
