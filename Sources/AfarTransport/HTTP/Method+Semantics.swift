package import HTTPTypes

extension HTTPRequest.Method {
    /// Whether the method is idempotent: sending a request twice has the same effect as once (RFC 9110, section 9.2.2).
    package var isIdempotent: Bool { Self.idempotent.contains(self) }

    private static let idempotent: Set<Self> = [.get, .head, .options, .trace, .put, .delete]

    /// Whether a request of this method without content has a `Content-Length: 0` (RFC 9110, section 8.6).
    package var expectsContent: Bool { self == .post || self == .put || self == .patch }
}
