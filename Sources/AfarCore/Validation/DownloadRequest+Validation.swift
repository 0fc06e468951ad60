public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension DownloadRequest {
    /// Looks at a response: the request sent, the head, and where the body is now.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ fileURL: URL?) -> ValidationResult

    /// Adds a validator. Validators run in the order in which they were added, when a response is there; the first
    /// failure fails the request as it is, or as ``AFError/ResponseValidationFailureReason/customValidationFailed(error:)``
    /// when it is no ``AFError``.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        append { request, head, fileURL in
            guard let response = head.httpURLResponse else { throw AFError.invalidURL(url: head.url) }
            try validation(request, response, fileURL).get()
        }
        return self
    }

    /// Requires the status code to be one of these.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
        append { _, head, _ in try ResponseRules.check(status: head.status, isIn: acceptableStatusCodes) }
        return self
    }

    /// Requires the response's media type to be one of these; `*` stands for any type or subtype. An empty body is of
    /// every type.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        append { _, head, fileURL in
            guard !Self.isEmpty(fileURL) else { return }
            try ResponseRules.check(contentTypeOf: head, isIn: Array(acceptableContentTypes()))
        }
        return self
    }

    /// Requires a status code from 200 to 299, and a media type that the request's `Accept` header names, if it has one.
    @discardableResult
    public func validate() -> Self {
        append { request, head, fileURL in
            try ResponseRules.checkDefaults(head, for: request, hasBody: !Self.isEmpty(fileURL))
        }
        return self
    }

    private static func isEmpty(_ file: URL?) -> Bool {
        guard let path = file?.path, let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] else {
            return true
        }
        return (size as? NSNumber)?.int64Value == 0
    }
}
