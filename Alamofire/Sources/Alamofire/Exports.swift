@_exported public import Afar

#if canImport(FoundationNetworking)
    // Afar can't create Foundation's `URLSessionTaskMetrics`, so this type replaces it. In files that import
    // FoundationNetworking, the name is ambiguous.

    /// The type of `metrics` in responses and event monitors, by the name that Alamofire's users write.
    public typealias URLSessionTaskMetrics = TaskMetrics
#endif
