public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension DataRequest {
    /// Looks at a response: the request sent, the head, and the bytes.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ data: Data?) -> ValidationResult

    /// Adds a validator. Validators run in the order in which they were added, when a response is there; the first
    /// failure fails the request as it is, or as ``AFError/ResponseValidationFailureReason/customValidationFailed(error:)``
    /// when it is no ``AFError``.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        append { request, head, data in
            guard let response = head.httpURLResponse else { throw AFError.invalidURL(url: head.url) }
            try validation(request, response, data).get()
        }
        return self
    }
}
