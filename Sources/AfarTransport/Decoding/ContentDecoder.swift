import HTTPTypes

/// Decodes a response's body from its content codings (RFC 9110, section 8.4), for transports.
///
/// ```swift
/// if let decoder = ContentDecoder(for: head, options: exchange.options) {
///     repeat {
///         let count = try decoder.decode(&received, into: buffer)
///         // Deliver the first `count` bytes of the buffer.
///     } while decoder.hasMore
///     // At the end of the body:
///     try decoder.finish()
/// }
/// ```
///
/// zlib decodes gzip and deflate. Brotli and Zstandard require libraries of the system, which are loaded when they are first needed. Use a
/// decoder from one thread at a time.
public final class ContentDecoder {
    /// The codings that can be decoded on this system, best first, as they appear in `Accept-Encoding`.
    public static let codings: [String] =
        (BrotliCoding.Library.shared == nil ? [] : ["br"]) + (ZstandardCoding.Library.shared == nil ? [] : ["zstd"])
        + ["gzip", "deflate"]

    /// The maximum number of codings of a body.
    private static let mostCodings = 5
    /// The size of the buffer between two codings, in bytes.
    private static let bufferSize = 16 * 1024
    /// The maximum number of times that one call of ``decode(_:into:)`` fills the buffers between codings.
    private static let maximumFillsPerStep = 64

    /// One coding, and the bytes that it hasn't decoded yet.
    private final class Layer {
        let name: String
        let coding: any ContentCoding
        /// Receives the output of the previous layer. The first layer has no buffer.
        let buffer: UnsafeMutableRawBufferPointer
        var waiting: UnsafeRawBufferPointer
        var byteCount: Int64 = 0

        init(_ name: String, _ coding: any ContentCoding, bufferSize: Int) {
            self.name = name
            self.coding = coding
            buffer = bufferSize == 0 ? UnsafeMutableRawBufferPointer(start: nil, count: 0) : .allocate(bufferSize)
            waiting = UnsafeRawBufferPointer(rebasing: buffer[..<0])
        }

        deinit { buffer.deallocate() }
    }

    private let url: String
    private let names: [String]
    private let limit: DecompressionLimit?
    /// One layer per coding, in decoding order: the coding that was applied last comes first. Created when the first byte
    /// arrives.
    private var layers: [Layer] = []
    /// The encoded bytes consumed so far.
    public private(set) var encodedByteCount: Int64 = 0
    /// The encoded bytes received so far, consumed or not.
    private var receivedByteCount: Int64 = 0
    private var fillsLeft = 0
    /// A Boolean value that indicates whether another call of ``decode(_:into:)`` can return bytes without more input.
    public private(set) var hasMore = false

    /// Creates a decoder for a response's body.
    ///
    /// Returns nil if the body has no content coding or an unknown one. Also returns nil if the response has no body or only a part of a
    /// body (206), or if `options` request raw bodies.
    public convenience init?(for head: ResponseHead, options: ExchangeOptions) {
        guard options.decodesContent, head.status != 206, head.status != 204, head.status != 304,
            head.contains(.contentEncoding)
        else { return nil }
        let names = FieldScanner.elements(of: head.values(for: .contentEncoding)).map(\.asciiLowercased)
            .filter { $0 != "identity" }
        guard !names.isEmpty, names.allSatisfy({ Self.isKnown($0) }) else { return nil }
        self.init(names, of: head.url, limit: options.decompressionLimit)
    }

    private init(_ names: [String], of url: String, limit: DecompressionLimit?) {
        self.names = names
        self.url = url
        self.limit = limit
    }

    private static func isKnown(_ name: String) -> Bool { name == "x-gzip" || codings.contains(name) }

    /// Decodes until all of the input is consumed, the output is full, or this call has done its maximum amount of work.
    ///
    /// Call this method again with the remaining input as long as ``hasMore`` is true.
    ///
    /// - Parameters:
    ///   - input: Encoded bytes. Consumed bytes are removed.
    ///   - output: Receives decoded bytes. It must have room for at least one byte.
    /// - Returns: The number of decoded bytes.
    /// - Throws: ``TransportError/Code-swift.struct/undecodableContent`` for a broken body, and
    ///   ``TransportError/Code-swift.struct/responseTooLarge`` for a body that exceeds ``ExchangeOptions/decompressionLimit``.
    public func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> Int {
        if layers.isEmpty { try makeLayers() }
        let available = input.count
        receivedByteCount = encodedByteCount + Int64(available)
        fillsLeft = Self.maximumFillsPerStep
        let count = try read(layers.count - 1, from: &input, into: output)
        encodedByteCount += Int64(available - input.count)
        hasMore = count == output.count || fillsLeft == 0
        return count
    }

    /// Checks that the body is complete. Call this method at the end of the body.
    ///
    /// An empty body is complete.
    ///
    /// - Throws: ``TransportError/Code-swift.struct/undecodableContent``.
    public func finish() throws(TransportError) {
        guard let layer = layers.first(where: { !$0.coding.isComplete }) else { return }
        throw failure("the body ends in the middle of its coding (\(layer.name))")
    }

    private func makeLayers() throws(TransportError) {
        guard names.count <= Self.mostCodings else {
            throw failure("the body has \(names.count) content codings, but at most \(Self.mostCodings) are supported")
        }
        var layers: [Layer] = []
        for name in names.reversed() {
            guard let coding = Self.coding(name) else {
                throw failure("there is not enough memory to decode the body (\(name))", .outOfResources)
            }
            layers.append(Layer(name, coding, bufferSize: layers.isEmpty ? 0 : Self.bufferSize))
        }
        self.layers = layers
    }

    private static func coding(_ name: String) -> (any ContentCoding)? {
        switch name {
        case "br": BrotliCoding()
        case "zstd": ZstandardCoding()
        case "deflate": DeflateCoding()
        default: GzipCoding()
        }
    }

    /// Reads from a layer, which reads from the one before it.
    private func read(
        _ index: Int, from input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> Int {
        let layer = layers[index]
        guard index > 0 else { return try decode(&input, of: layer, into: output) }
        var count = 0
        while true {
            let room = UnsafeMutableRawBufferPointer(rebasing: output[count...])
            count += try decode(&layer.waiting, of: layer, into: room)
            guard count < output.count, fillsLeft > 0 else { return count }
            fillsLeft -= 1
            let filled = try read(index - 1, from: &input, into: layer.buffer)
            layer.waiting = UnsafeRawBufferPointer(rebasing: layer.buffer[..<filled])
            guard filled > 0 else { return count }
        }
    }

    private func decode(
        _ input: inout UnsafeRawBufferPointer, of layer: Layer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> Int {
        let count: Int
        do {
            count = try layer.coding.decode(&input, into: output)
        } catch {
            switch error {
            case .broken(let reason): throw failure("the body's coding (\(layer.name)) is broken: \(reason)")
            case .outOfMemory:
                throw failure("there is not enough memory to decode the body (\(layer.name))", .outOfResources)
            }
        }
        layer.byteCount += Int64(count)
        if let limit, limit.isExceeded(by: layer.byteCount, from: receivedByteCount) {
            throw failure(limit.message, .responseTooLarge)
        }
        return count
    }

    private func failure(_ message: String, _ code: TransportError.Code = .undecodableContent) -> TransportError {
        TransportError(code, phase: .receiving, url: url, message: message)
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate static func allocate(_ byteCount: Int) -> Self { .allocate(byteCount: byteCount, alignment: 16) }
}

/// A limit at which a compressed response body (`Content-Encoding`) is treated as a decompression bomb. A body exceeds the
/// limit if it has more than ``size`` decoded bytes, and more than ``ratio`` decoded bytes for each received byte.
///
/// Both conditions must be met, so a body never exceeds the limit because of its size alone. The highest possible ratio of gzip and deflate
/// is about 1,030. The ratio of brotli and zstd can be much higher. A harmless body, such as a disk image of zeros, can meet both
/// conditions. To accept it, increase ``ratio`` or set the limit to nil.
public struct DecompressionLimit: Sendable, Hashable {
    /// The number of decoded bytes that any body can have, regardless of its ratio. The default is 1 GiB.
    public var size: Int64
    /// The maximum number of decoded bytes per received byte at which a body is accepted, regardless of its size. The default is
    /// 1,000.
    public var ratio: Int64

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - size: The number of decoded bytes that any body can have. The default is 1 GiB.
    ///   - ratio: The number of decoded bytes per received byte that a body of any size can have. The default is 1,000.
    public init(size: Int64 = 1 << 30, ratio: Int64 = 1_000) {
        self.size = size
        self.ratio = ratio
    }

    /// Returns a Boolean value that indicates whether a body exceeds the limit.
    ///
    /// - Parameters:
    ///   - decoded: The number of bytes decoded so far.
    ///   - received: The number of bytes received so far, or the body's total encoded size.
    public func isExceeded(by decoded: Int64, from received: Int64) -> Bool {
        guard decoded > size else { return false }
        let (most, isOverflowing) = max(0, received).multipliedReportingOverflow(by: max(0, ratio))
        return !isOverflowing && decoded > most
    }

    /// A message that explains how a body exceeded this limit.
    package var message: String {
        "the body has more than \(size) decoded bytes, and more than \(ratio) per received byte (decompressionLimit)"
    }
}

/// Decodes a body in pieces, because a small amount of encoded data can decode to any length.
package final class PieceDecoder {
    package static let pieceSize = 32 * 1024

    private let decoder: ContentDecoder
    /// The memory for decoded bytes, which is allocated when the first byte arrives.
    private var piece = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    package init(_ decoder: ContentDecoder) { self.decoder = decoder }

    deinit { piece.deallocate() }

    package var encodedByteCount: Int64 { decoder.encodedByteCount }

    /// Whether more can be decoded without further input.
    package var hasMore: Bool { decoder.hasMore }

    /// Decodes bytes into a piece, which is valid until the next call. Removes the bytes that were decoded.
    package func decode(_ bytes: inout UnsafeRawBufferPointer) throws(Fault) -> UnsafeRawBufferPointer {
        if piece.isEmpty { piece = .allocate(byteCount: Self.pieceSize, alignment: 16) }
        do throws(TransportError) {
            let count = try decoder.decode(&bytes, into: piece)
            return UnsafeRawBufferPointer(rebasing: piece[..<count])
        } catch {
            throw Fault(error)
        }
    }

    package func finish() throws(Fault) {
        do throws(TransportError) { try decoder.finish() } catch { throw Fault(error) }
    }
}
