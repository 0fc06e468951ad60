public import AfarCore
public import Foundation

extension RequestInterceptor where Self == DeflateRequestCompressor {
    /// An interceptor that compresses every body with `deflate`. A request that already has a `Content-Encoding` fails.
    public static var deflateCompressor: DeflateRequestCompressor { DeflateRequestCompressor() }

    /// Returns an interceptor that compresses bodies with `deflate`.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: What to do with a request that already has a `Content-Encoding`. The default is `.error`.
    ///   - shouldCompressBodyData: Returns whether to compress a body. By default, every body is compressed.
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
    /// An interceptor that compresses every body with `gzip`. A request that already has a `Content-Encoding` fails.
    public static var gzipCompressor: GzipRequestCompressor { GzipRequestCompressor() }

    /// Returns an interceptor that compresses bodies with `gzip`.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: What to do with a request that already has a `Content-Encoding`. The default is `.error`.
    ///   - shouldCompressBodyData: Returns whether to compress a body. By default, every body is compressed.
    @preconcurrency
    public static func gzipCompressor(
        duplicateHeaderBehavior: GzipRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> GzipRequestCompressor {
        GzipRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}
