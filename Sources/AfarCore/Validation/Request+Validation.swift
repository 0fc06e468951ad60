#if canImport(FoundationNetworking)
    import FoundationNetworking
#else
    import Foundation
#endif

extension Request {
    /// What a validator says.
    public typealias ValidationResult = Result<Void, any Error>

    /// Looks at a response's head, and may ask whether there is a body.
    typealias Rule = @Sendable (URLRequest?, ResponseHead, _ hasBody: () -> Bool) throws -> Void

    /// Requires the status code to be one of these. Validators run in the order in which they were added.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
        append { _, head, _ in try ResponseRules.check(status: head.status, isIn: acceptableStatusCodes) }
        return self
    }

    /// Requires the response's media type to be one of these; `*` stands for any type or subtype. An empty body is of
    /// every type; of a ``DataStreamRequest`` the head tells whether it is empty.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        append { _, head, hasBody in
            guard hasBody() else { return }
            try ResponseRules.check(contentTypeOf: head, isIn: Array(acceptableContentTypes()))
        }
        return self
    }

    /// Adds two validators: one requires a status code from 200 to 299, the other a media type that the request's `Accept`
    /// header names, if it has one.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: 200..<300)
        append { request, head, hasBody in
            guard hasBody(), let accept = request?.value(forHTTPHeaderField: "Accept") else { return }
            try ResponseRules.check(contentTypeOf: head, isIn: MediaType.ranges(in: accept))
        }
        return self
    }
}
