public import AfarCore
public import Foundation

extension RequestInterceptor where Self == DeflateRequestCompressor {
    /// Sends every body with the coding `deflate`; a request that has a `Content-Encoding` fails.
    public static var deflateCompressor: DeflateRequestCompressor { DeflateRequestCompressor() }

    /// Sends bodies with the coding `deflate`.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: What to do with a request that has a `Content-Encoding` already. The default is
    ///     `.error`.
    ///   - shouldCompressBodyData: Whether a body is to be compressed. By default every body is.
    @preconcurrency
    public static func deflateCompressor(
        duplicateHeaderBehavior: DeflateRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> DeflateRequestCompressor {
        DeflateRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}

extension RequestInterceptor where Self == GzipRequestCompressor {
    /// Sends every body with the coding `gzip`; a request that has a `Content-Encoding` fails.
    public static var gzipCompressor: GzipRequestCompressor { GzipRequestCompressor() }

    /// Sends bodies with the coding `gzip`.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: What to do with a request that has a `Content-Encoding` already. The default is
    ///     `.error`.
    ///   - shouldCompressBodyData: Whether a body is to be compressed. By default every body is.
    @preconcurrency
    public static func gzipCompressor(
        duplicateHeaderBehavior: GzipRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> GzipRequestCompressor {
        GzipRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}
