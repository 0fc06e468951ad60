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
