import CZlib
import Foundation

/// The decoder of one content coding.
protocol ContentCoding: AnyObject {
    /// Whether the input so far is complete. Empty input is complete.
    var isComplete: Bool { get }

    /// Decodes until the output is full or all of the input is consumed.
    ///
    /// - Returns: The number of decoded bytes. If it is less than the output's size, further decoding requires more input.
    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingFailure) -> Int
}

enum ContentCodingFailure: Error {
    case broken(String)
    case outOfMemory

    static let excess = ContentCodingFailure.broken("there are extra bytes after its end")
}

extension UnsafeRawBufferPointer {
    mutating func removeFirst(_ count: Int) { self = UnsafeRawBufferPointer(rebasing: self[count...]) }
}

// MARK: - Deflate and gzip

final class ZlibStream {
    /// Allocated separately, because zlib keeps the stream's address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    /// Returns nil if memory ran out.
    ///
    /// - Parameter windowBits: As for `inflateInit2`: 15 for the zlib format, 31 for gzip, −15 for raw deflate.
    init?(windowBits: Int32) {
        stream.initialize(to: z_stream())
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Starts a new stream of the same format.
    func reset() { inflateReset(stream) }

    /// Inflates until the input is consumed, the output is full, or the stream ends.
    ///
    /// - Parameter count: The number of bytes in the output.
    /// - Returns: Whether the stream has ended.
    func inflate(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, count: inout Int
    ) throws(ContentCodingFailure) -> Bool {
        while true {
            let (available, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count - count))
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = available
            stream.pointee.next_out = output.baseAddress.map { ($0 + count).assumingMemoryBound(to: UInt8.self) }
            stream.pointee.avail_out = room
            let status = CZlib.inflate(stream, Z_NO_FLUSH)
            input.removeFirst(Int(available - stream.pointee.avail_in))
            count += Int(room - stream.pointee.avail_out)
            switch status {
            case Z_STREAM_END: return true
            case Z_OK where !input.isEmpty && count < output.count: continue
            case Z_OK, Z_BUF_ERROR: return false
            case Z_MEM_ERROR: throw .outOfMemory
            default: throw .broken(stream.pointee.msg.map { String(cString: $0) } ?? "zlib's code \(status)")
            }
        }
    }
}

/// Decodes the `deflate` content coding: a stream in the zlib format (RFC 1950). Also decodes a raw stream (RFC 1951), which some servers
/// send instead.
final class DeflateCoding: ContentCoding {
    private enum State {
        case start
        /// The first byte has arrived. The second determines the format.
        case first(UInt8)
        case stream
        case end
    }

    private var stream: ZlibStream?
    private var state = State.start

    init() {}

    var isComplete: Bool {
        switch state {
        case .start, .end: true
        case .first, .stream: false
        }
    }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingFailure) -> Int {
        var count = 0
        while true {
            switch state {
            case .start:
                guard let byte = input.first else { return count }
                input.removeFirst(1)
                state = .first(byte)
            case .first(let byte):
                guard let next = input.first else { return count }
                stream = ZlibStream(windowBits: Self.beginsZlibFormat(byte, next) ? 15 : -15)
                let isEnd = try withUnsafeBytes(of: byte) { (bytes) throws(ContentCodingFailure) in
                    var bytes = bytes
                    return try inflate(&bytes, into: output, count: &count)
                }
                state = isEnd ? .end : .stream
            case .stream:
                guard try inflate(&input, into: output, count: &count) else { return count }
                state = .end
            case .end:
                guard input.isEmpty else { throw .excess }
                return count
            }
        }
    }

    private func inflate(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, count: inout Int
    ) throws(ContentCodingFailure) -> Bool {
        guard stream != nil else { throw .outOfMemory }
        return try stream?.inflate(&input, into: output, count: &count) ?? false
    }

    /// Returns whether two bytes are a zlib header (RFC 1950, section 2.2). A raw stream doesn't begin with these bytes,
    /// because they would mean a stored block with nonzero padding.
    private static func beginsZlibFormat(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
    }
}

/// Decodes the `gzip` content coding: one or more members, optionally followed by zeros (RFC 1952, section 2.2).
final class GzipCoding: ContentCoding {
    private enum State {
        case start
        case member
        case betweenMembers
        case padding
    }

    private let stream: ZlibStream
    private var state = State.start

    init?() {
        guard let stream = ZlibStream(windowBits: 31) else { return nil }
        self.stream = stream
    }

    var isComplete: Bool { state != .member }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingFailure) -> Int {
        var count = 0
        while true {
            switch state {
            case .start:
                guard !input.isEmpty else { return count }
                state = .member
            case .member:
                guard try stream.inflate(&input, into: output, count: &count) else { return count }
                state = .betweenMembers
            case .betweenMembers:
                guard let byte = input.first else { return count }
                guard byte != 0 else {
                    state = .padding
                    continue
                }
                guard byte == 0x1F else { throw .excess }
                stream.reset()
                state = .member
            case .padding:
                guard input.allSatisfy({ $0 == 0 }) else { throw .excess }
                input.removeFirst(input.count)
                return count
            }
        }
    }
}

// MARK: - Brotli

/// Decodes the `br` content coding (RFC 7932) with the system's libbrotlidec.
final class BrotliCoding: ContentCoding {
    struct Library: Sendable {
        typealias Pointer = UnsafeMutableRawPointer
        typealias Create = @Sendable @convention(c) (Pointer?, Pointer?, Pointer?) -> OpaquePointer?
        typealias Destroy = @Sendable @convention(c) (OpaquePointer) -> Void
        /// The function's parameters are the state, the size and start of the input, the size and start of the output, and an unused count.
        typealias Decompress =
            @Sendable @convention(c) (OpaquePointer, Pointer, Pointer, Pointer, Pointer, Pointer?) -> CInt

        let create: Create
        let destroy: Destroy
        let decompress: Decompress

        static let shared = Library()

        private init?() {
            guard let library = SharedLibrary("libbrotlidec.so.1"),
                let create = library.function("BrotliDecoderCreateInstance", as: Create.self),
                let destroy = library.function("BrotliDecoderDestroyInstance", as: Destroy.self),
                let decompress = library.function("BrotliDecoderDecompressStream", as: Decompress.self)
            else { return nil }
            (self.create, self.destroy, self.decompress) = (create, destroy, decompress)
        }
    }

    private let library: Library
    private let state: OpaquePointer
    private var hasBegun = false
    private var hasEnded = false

    init?() {
        guard let library = Library.shared, let state = library.create(nil, nil, nil) else { return nil }
        (self.library, self.state) = (library, state)
    }

    deinit { library.destroy(state) }

    var isComplete: Bool { hasEnded || !hasBegun }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingFailure) -> Int {
        guard hasBegun || !input.isEmpty else { return 0 }
        hasBegun = true
        var (available, next) = (input.count, input.baseAddress)
        var (room, end) = (output.count, output.baseAddress)
        if !hasEnded {
            switch library.decompress(state, &available, &next, &room, &end, nil) {
            case 1: hasEnded = true
            // The decoder requires more input or more room for output.
            case 2, 3: break
            default: throw .broken("invalid data")
            }
        }
        input.removeFirst(input.count - available)
        guard !hasEnded || input.isEmpty else { throw .excess }
        return output.count - room
    }
}

// MARK: - Zstandard

/// Decodes the `zstd` content coding (RFC 8878) with the system's libzstd.
final class ZstandardCoding: ContentCoding {
    /// The layout of `ZSTD_inBuffer` and `ZSTD_outBuffer`.
    struct Buffer {
        var start: UnsafeMutableRawPointer?
        var size: Int
        var position = 0
    }

    struct Library: Sendable {
        typealias Create = @Sendable @convention(c) () -> OpaquePointer?
        typealias Free = @Sendable @convention(c) (OpaquePointer) -> Int
        typealias SetParameter = @Sendable @convention(c) (OpaquePointer, CInt, CInt) -> Int
        /// The function's parameters are the stream, the output and the input.
        typealias Decompress =
            @Sendable @convention(c) (OpaquePointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
        typealias IsError = @Sendable @convention(c) (Int) -> CUnsignedInt
        typealias ErrorName = @Sendable @convention(c) (Int) -> UnsafePointer<CChar>?

        let create: Create
        let free: Free
        let setParameter: SetParameter
        let decompress: Decompress
        let isError: IsError
        let errorName: ErrorName

        static let shared = Library()

        private init?() {
            guard let library = SharedLibrary("libzstd.so.1"),
                let create = library.function("ZSTD_createDStream", as: Create.self),
                let free = library.function("ZSTD_freeDStream", as: Free.self),
                let setParameter = library.function("ZSTD_DCtx_setParameter", as: SetParameter.self),
                let decompress = library.function("ZSTD_decompressStream", as: Decompress.self),
                let isError = library.function("ZSTD_isError", as: IsError.self),
                let errorName = library.function("ZSTD_getErrorName", as: ErrorName.self)
            else { return nil }
            (self.create, self.free, self.setParameter) = (create, free, setParameter)
            (self.decompress, self.isError, self.errorName) = (decompress, isError, errorName)
        }
    }

    /// `ZSTD_d_windowLogMax`, and the binary logarithm of the largest window that the coding permits: 8 MiB (RFC 9659, section
    /// 3).
    private static let (windowParameter, largestWindow): (CInt, CInt) = (100, 23)

    private let library: Library
    private let stream: OpaquePointer
    /// False in the middle of a frame; otherwise true.
    private(set) var isComplete = true

    init?() {
        guard let library = Library.shared, let stream = library.create() else { return nil }
        (self.library, self.stream) = (library, stream)
        _ = library.setParameter(stream, Self.windowParameter, Self.largestWindow)
    }

    deinit { _ = library.free(stream) }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingFailure) -> Int {
        var source = Buffer(start: UnsafeMutableRawPointer(mutating: input.baseAddress), size: input.count)
        var target = Buffer(start: output.baseAddress, size: output.count)
        // Another frame can follow.
        while target.position < target.size, source.position < source.size || !isComplete {
            let (read, written) = (source.position, target.position)
            let code = library.decompress(stream, &target, &source)
            guard library.isError(code) == 0 else {
                throw .broken(library.errorName(code).map { String(cString: $0) } ?? "invalid data")
            }
            isComplete = code == 0
            guard source.position < source.size else { break }
            guard source.position > read || target.position > written else { throw .broken("decoding stopped") }
        }
        input.removeFirst(source.position)
        return target.position
    }
}

// MARK: - System libraries

/// A system library that is loaded at run time.
struct SharedLibrary {
    private let handle: UnsafeMutableRawPointer

    /// Loads the library for the lifetime of the process. Returns nil if the system doesn't have it.
    init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// Returns a function of the library. `Function` must be its type, with the C calling convention.
    func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
        dlsym(handle, name).map { unsafeBitCast($0, to: type) }
    }
}
