import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request whose response is handed on while it arrives, and never held.
///
/// The next chunk is read when all handlers are done with the one before, so a slow handler holds the server back, where
/// the transport can do that. Validators look at the response's head, before the first chunk is handed on. A retry, if a
/// retrier asks for one in the middle, brings the body again from its first byte.
public final class DataStreamRequest: Request, @unchecked Sendable {
    // Sendable because what it adds never changes.

    /// Whether the request is cancelled when a serializer throws. (When a handler does, it always is.)
    public let automaticallyCancelOnStreamError: Bool
    let chunks = StreamSink()

    init(
        convertible: any URLRequestConvertible,
        automaticallyCancelOnStreamError: Bool,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?
    ) {
        self.automaticallyCancelOnStreamError = automaticallyCancelOnStreamError
        super.init(
            convertible: convertible, sink: chunks, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, countsBytes: true)
    }
}
