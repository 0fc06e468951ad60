public import AfarCompression
public import AfarCore
public import Foundation

/// An interceptor that compresses request bodies with the content coding `br`.
public typealias BrotliRequestCompressor = RequestCompressor<BrotliCoding>

/// An interceptor that compresses request bodies with the content coding `zstd`.
public typealias ZstandardRequestCompressor = RequestCompressor<ZstandardCoding>

extension RequestInterceptor where Self == BrotliRequestCompressor {
    /// An interceptor that compresses every body with `br`. A request that already has a `Content-Encoding` fails.
    public static var brotliCompressor: BrotliRequestCompressor { BrotliRequestCompressor() }

    /// Returns an interceptor that compresses bodies with `br`.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: The treatment of a request that already has a `Content-Encoding`. The default is `.error`.
    ///   - shouldCompressBodyData: Returns whether to compress a body. By default, every body is compressed.
    public static func brotliCompressor(
        duplicateHeaderBehavior: BrotliRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> BrotliRequestCompressor {
        BrotliRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}

extension RequestInterceptor where Self == ZstandardRequestCompressor {
    /// An interceptor that compresses every body with `zstd`. A request that already has a `Content-Encoding` fails.
    public static var zstandardCompressor: ZstandardRequestCompressor { ZstandardRequestCompressor() }

    /// Returns an interceptor that compresses bodies with `zstd`.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: The treatment of a request that already has a `Content-Encoding`. The default is `.error`.
    ///   - shouldCompressBodyData: Returns whether to compress a body. By default, every body is compressed.
    public static func zstandardCompressor(
        duplicateHeaderBehavior: ZstandardRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> ZstandardRequestCompressor {
        ZstandardRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}
