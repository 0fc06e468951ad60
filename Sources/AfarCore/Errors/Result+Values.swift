extension Result where Success == Void {
    /// A success that carries nothing, as a validator says it.
    public static var success: Self { .success(()) }
}

extension Result {
    /// Whether this is a success.
    public var isSuccess: Bool {
        if case .success = self { true } else { false }
    }

    /// Whether this is a failure.
    public var isFailure: Bool {
        !isSuccess
    }

    /// The value of a success, nil for a failure.
    public var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }

    /// The error of a failure, nil for a success.
    public var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
