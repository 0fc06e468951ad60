public import HTTPTypes

/// Header fields that a session sends with every request, created once and shared.
///
/// It is a class so that a transport can store its own prepared form of the fields and find it again by identity.
public final class DefaultFields: Sendable {
    /// No fields.
    public static let none = DefaultFields(HTTPFields())

    /// The fields, in the order in which they are sent.
    public let fields: HTTPFields
    @usableFromInline package let prepared = Locked<(any AnyObject & Sendable)?>(nil)

    /// Creates shared fields.
    public init(_ fields: HTTPFields) {
        self.fields = fields
    }

    /// Returns a transport's own form of these fields, which is created on the first call and stored.
    @inlinable
    package func prepared<Form: AnyObject & Sendable>(_ make: (HTTPFields) -> Form) -> Form {
        if let form = prepared.withLock({ $0 }) as? Form { return form }
        let form = make(fields)
        prepared.withLock { $0 = form }
        return form
    }
}
