extension Error {
    /// This error where it is an `AFError`, else nil.
    public var asAFError: AFError? {
        self as? AFError
    }

    /// This error as an `AFError`. It never fails: any other error comes back inside `AFError.sessionTaskFailed`.
    ///
    /// - Parameters:
    ///   - message: Not used; here so that calls written for a version that traps still compile.
    ///   - file: Not used.
    ///   - line: Not used.
    public func asAFError(
        orFailWith message: @autoclosure () -> String,
        file: StaticString = #file,
        line: UInt = #line
    ) -> AFError {
        asAFError(or: .sessionTaskFailed(error: self))
    }

    /// This error where it is an `AFError`, else the one given.
    package func asAFError(or defaultAFError: @autoclosure () -> AFError) -> AFError {
        self as? AFError ?? defaultAFError()
    }
}
