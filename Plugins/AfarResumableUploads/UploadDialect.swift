import Foundation

/// The requests of a protocol.
protocol UploadDialect: Sendable {
    /// Creates an upload.
    ///
    /// - Parameter didFindURL: Called with the URL of the upload, possibly before the request has ended. If it throws, the upload fails.
    func create(
        for source: any UploadSource, didFindURL: @escaping @Sendable (URL) throws -> Void,
        didSend: @escaping @Sendable (Int64) -> Void
    ) async throws -> UploadState

    func state(of url: URL, source: any UploadSource) async throws -> UploadState

    func append(
        _ segment: Segment, of source: any UploadSource, to url: URL, didSend: @escaping @Sendable (Int64) -> Void
    ) async throws -> UploadState

    func delete(_ url: URL) async throws
}

/// The state of an upload on the server.
struct UploadState: Sendable {
    /// The number of bytes that the server has, or nil if it must be requested.
    var offset: Int64?
    /// Whether the upload is complete. If nil, it is complete if all bytes have been received.
    var isComplete: Bool?
    /// The maximum number of bytes in one request that the server allows, or nil if it is unknown.
    var requestLimit: Int64?
    /// When the server removes the unfinished upload, or nil if it is unknown.
    var expirationDate: Date?
    var reply: UploadClient.Reply
}
