/// A type that has a value for a response without a body.
public protocol EmptyResponse: Sendable {
    /// The value for no body.
    static func emptyValue() -> Self
}

/// What a response without a body decodes to.
public struct Empty: Codable, Sendable, Hashable, EmptyResponse {
    /// The shared value.
    public static let value = Empty()

    /// The shared value.
    public static func emptyValue() -> Empty { value }
}
