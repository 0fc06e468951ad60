/// A result builder that makes the compiler warn about implementations of the ``EventMonitor`` methods that take Foundation's
/// `URLSessionTaskMetrics`, which are never called. Replace that type with ``TaskMetrics``.
///
/// A protocol requirement passes its result builder on to the methods that implement it, and the methods of this builder are
/// deprecated.
///
/// Statements that result builders don't support are errors that name this type: `break`, `continue`, `fallthrough`, `guard`,
/// `while`, `repeat`, `do` with `catch`, `defer`, and local types, type aliases and functions.
///
/// The compiler doesn't warn about:
/// - a body with a `return` outside closures, whatever else it contains
/// - a body that is empty or only declares constants and variables
/// - a method outside the type or extension that declares the conformance, such as one in a subclass of ``ClosureEventMonitor``
@resultBuilder
public enum UseTaskMetrics {
    /// Doesn't warn about an empty method.
    public static func buildBlock() {}

    /// Warns about a non-empty method.
    @available(*, deprecated, message: "This method is never called. Replace URLSessionTaskMetrics by TaskMetrics.")
    public static func buildBlock<each Part>(_ part: repeat each Part) {}

    /// Allows an `if` without an `else`.
    public static func buildOptional(_ part: Void?) {}

    /// Allows an `if` with an `else`, and a `switch`.
    public static func buildEither(first part: Void) {}

    /// Allows an `if` with an `else`, and a `switch`.
    public static func buildEither(second part: Void) {}

    /// Allows a `for` loop.
    public static func buildArray(_ parts: [Void]) {}

    /// Allows `#available`.
    public static func buildLimitedAvailability(_ part: Void) {}
}
