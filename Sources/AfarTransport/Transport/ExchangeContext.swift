/// Typed values that travel with an exchange, for transports around the transport.
///
/// ```swift
/// struct TenantKey: ExchangeContextKey {
///     static let defaultValue = "public"
/// }
/// exchange.context[TenantKey.self] = "blue"
/// ```
public struct ExchangeContext: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// An empty context.
    public init() {}

    /// Whether no value was set.
    package var isEmpty: Bool { values.isEmpty }

    /// The value under a key, or the key's default.
    public subscript<Key: ExchangeContextKey>(key: Key.Type) -> Key.Value {
        get {
            guard let value = values[ObjectIdentifier(key)] else { return Key.defaultValue }
            return value as? Key.Value ?? Key.defaultValue
        }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

/// A name, and the type, of a value in an ``ExchangeContext``.
public protocol ExchangeContextKey {
    /// What the key stands for.
    associatedtype Value: Sendable
    /// What is read when nothing was set.
    static var defaultValue: Value { get }
}
