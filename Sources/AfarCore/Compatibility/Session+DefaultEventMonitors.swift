extension Session {
    /// The monitors that Alamofire 5 gives a session by default: the one that posts notifications.
    ///
    /// A session posts them without being given it, too.
    public var defaultEventMonitors: [any EventMonitor] { [RequestNotifications.automatic] }
}
