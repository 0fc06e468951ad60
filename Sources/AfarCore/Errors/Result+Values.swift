/// A result whose failure is an ``AFError``.
public typealias AFResult<Success> = Result<Success, AFError>

extension Result where Success == Void {
    /// A success without a value, as validators return it.
    public static var success: Self { .success(()) }
}

// Disfavored, because many programs define these themselves.
extension Result {
    /// Whether this is a success.
    @_disfavoredOverload
    public var isSuccess: Bool {
        if case .success = self { true } else { false }
    }

    /// Whether this is a failure.
    @_disfavoredOverload
    public var isFailure: Bool {
        !isSuccess
    }

    /// The value of a success; nil for a failure.
    @_disfavoredOverload
    public var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }

    /// The error of a failure; nil for a success.
    @_disfavoredOverload
    public var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
