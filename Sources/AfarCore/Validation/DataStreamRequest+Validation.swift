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
}
