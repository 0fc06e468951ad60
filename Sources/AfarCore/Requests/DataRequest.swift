public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request whose response is held in memory.
public class DataRequest: Request, @unchecked Sendable {
    // Sendable because what it adds never changes.

    let memory: MemorySink

    init(
        convertible: any URLRequestConvertible,
        uploadBody: UploadBody? = nil,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        isPlain: Bool = false
    ) {
        memory = MemorySink()
        super.init(
            convertible: convertible, uploadBody: uploadBody, sink: memory, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, isPlain: isPlain, countsBytes: uploadBody != nil)
    }

    /// The response's body, once it is there; nil when there was none. When the request broke off or was cancelled, what
    /// had come of it by then; nothing, if it was cancelled by who was asked about the response's head.
    public var data: Data? { memory.data }

    /// Has the body handed to a closure while it arrives, in place of being kept: ``data`` stays nil. Set it before the
    /// request starts. A ``DataStreamRequest`` can do more.
    ///
    /// - Parameter closure: Called for each chunk, in the request's task: the next is read when it returns. Nil keeps the
    ///   body as usual.
    @preconcurrency
    @discardableResult
    public func stream(closure: (@Sendable (Data) -> Void)? = nil) -> Self {
        memory.stream(to: closure)
        return self
    }
}
