public import Foundation

/// An error that is thrown for a key whose value can't be used.
public struct SessionConfigurationError: LocalizedError, CustomStringConvertible, Sendable {
    /// The key, relative to the reader's scope, such as `timeout.request`.
    public let key: String
    /// The key and what its value must be. It never contains the value, which can be a secret.
    public let description: String
    /// The reader's error if the reader couldn't return the value; otherwise nil. It is always nil for `proxy`.
    public let underlyingError: (any Error)?

    /// The ``description``.
    public var errorDescription: String? { description }

    /// Creates an error for a value that isn't allowed.
    init(_ key: Key) { self.init(key, "is invalid", nil) }

    /// Creates an error for a value that the reader couldn't return, usually because it has another type.
    init(_ key: Key, readingFailed error: any Error) { self.init(key, "can't be read", key == .proxy ? nil : error) }

    private init(_ key: Key, _ problem: String, _ underlyingError: (any Error)?) {
        self.key = key.rawValue
        self.underlyingError = underlyingError
        description = "the value of the configuration key \(key.rawValue) \(problem): it must be \(key.requirement)"
    }

    init(unknown key: String) {
        self.key = key
        underlyingError = nil
        description =
            "the configuration key \(key) doesn't exist: use one of \(Key.allCases.map(\.rawValue).formatted())"
    }
}
