/// Makes the compiler warn about the methods of an ``EventMonitor`` that take Foundation's `URLSessionTaskMetrics`, which
/// are never called. Replace that type by ``TaskMetrics``.
///
/// A protocol's requirement passes its result builder on to the methods that implement it, and the methods of this one
/// are deprecated. A loop or another statement that result builders don't support is an error that names this type. The
/// compiler is silent about a body with a `return`, and about a method in another extension than the conformance.
@resultBuilder
public enum UseTaskMetrics {
    /// An empty method isn't worth a warning.
    public static func buildBlock() {}

    /// Warns about a method that does something.
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
