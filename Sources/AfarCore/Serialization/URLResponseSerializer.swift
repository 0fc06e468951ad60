public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Gives the place of a downloaded file.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// Makes the serializer.
    public init() {}

    /// The place of the file.
    ///
    /// - Throws: The error of before, or ``AFError/ResponseSerializationFailureReason/inputFileNil``.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// Gives the place of a downloaded file.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}
