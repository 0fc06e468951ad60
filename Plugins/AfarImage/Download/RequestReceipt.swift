public import AfarCore

/// Stands for one of those who wait for an image of an ``ImageDownloader``.
public struct RequestReceipt: Sendable {
    /// The request, which others may wait for as well: cancel with ``ImageDownloader/cancelRequest(with:)``, which leaves it to
    /// them.
    public let request: DataRequest
    /// What the caller named it.
    public let receiptID: String
    let fetch: ImageFetch.Key
    let waiter: UInt64
}

extension RequestReceipt: CustomStringConvertible, CustomDebugStringConvertible {
    /// The receipt's name and the request, without its header fields and body.
    public var description: String { "RequestReceipt(\(receiptID), \(request.description))" }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
