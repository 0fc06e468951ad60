package import HTTPTypes

extension HTTPHeaders {
    /// The same fields as headers.
    init(_ fields: HTTPFields) { self.init(fields.map { HTTPHeader(name: $0.name.rawName, value: $0.value) }) }
}

extension HTTPFields {
    /// The most header fields that a request may have.
    private static let limit = 1_000

    /// Makes fields of headers after checking that each can be sent as it is.
    ///
    /// - Throws: `AFError.urlRequestValidationFailed` with `tooManyHeaders`, `invalidHeaderName` or `invalidHeaderValue`.
    package init(checking headers: HTTPHeaders) throws {
        guard headers.count <= Self.limit else {
            throw AFError.urlRequestValidationFailed(
                reason: .tooManyHeaders(count: headers.count, limit: Self.limit))
        }
        self.init()
        for header in headers {
            try header.validate()
            guard let name = HTTPField.Name(header.name) else {
                throw AFError.urlRequestValidationFailed(reason: .invalidHeaderName(header.name))
            }
            append(HTTPField(name: name, value: header.value))
        }
    }
}
