public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request that sends a body from memory or from a file, and whose response is held in memory.
public final class UploadRequest: DataRequest, @unchecked Sendable {
    // Sendable because what it adds never changes.

    /// Where the body comes from.
    public enum Uploadable: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// A whole file, read while it is sent.
        case file(URL)
    }

    /// Where the body comes from.
    public let uploadable: Uploadable

    init(
        _ uploadable: Uploadable,
        convertible: any URLRequestConvertible,
        context: SessionContext,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        requestModifier: RequestModifier?
    ) {
        self.uploadable = uploadable
        super.init(
            convertible: convertible, context: context, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
    }

    override var mayShowProgressLate: Bool { true }

    override func body(for urlRequest: URLRequest) throws -> RequestBody {
        switch uploadable {
        case .data(let data): .data(data)
        case .file(let url): .file(url)
        }
    }
}
