extension NetworkActivityIndicatorManager {
    /// The same as ``requestDidStart()``.
    public func incrementActivityCount() { requestDidStart() }

    /// The same as ``requestDidStop()``.
    public func decrementActivityCount() { requestDidStop() }
}
