extension Request {
    /// Adds a monitor that hears what happens to this request from now on, after the session's monitors.
    @preconcurrency
    @discardableResult
    public func eventMonitor(_ eventMonitor: any EventMonitor) -> Self {
        mutable.withLock { state in
            let others = state.eventMonitor ?? context.listeners
            state.eventMonitor = CompositeEventMonitor(monitors: others.monitors + [eventMonitor])
        }
        return self
    }

    /// Who listens to this request; nil when nobody does.
    var events: CompositeEventMonitor? { mutable.withLock { $0.eventMonitor } ?? context.eventMonitor }
}
