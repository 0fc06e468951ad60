@_exported public import Afar

#if canImport(FoundationNetworking)
    // Foundation's metrics can't be created. In files that import FoundationNetworking themselves, the name is ambiguous.

    /// The type of `metrics` in responses and event monitors, by the name that Alamofire's users write.
    public typealias URLSessionTaskMetrics = TaskMetrics
#endif
