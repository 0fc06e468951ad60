/// Typed values that travel with an exchange, for transports that wrap the transport.
///
/// ```swift
/// struct TenantKey: ExchangeContextKey {
///     static let defaultValue = "public"
/// }
/// exchange.context[TenantKey.self] = "blue"
/// ```
public struct ExchangeContext: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Creates an empty context.
    public init() {}

    /// Whether the context has no values.
    package var isEmpty: Bool { values.isEmpty }

    /// The value for a key, or the key's default value.
    public subscript<Key: ExchangeContextKey>(key: Key.Type) -> Key.Value {
        get {
            guard let value = values[ObjectIdentifier(key)] else { return Key.defaultValue }
            return value as? Key.Value ?? Key.defaultValue
        }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

/// The key and type of a value in an ``ExchangeContext``.
public protocol ExchangeContextKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value to use if none was set.
    static var defaultValue: Value { get }
}
