/// Decodes the `zstd` content coding (RFC 8878) with the system's libzstd.
final class ZstandardCoding: ContentCoding {
    /// `ZSTD_inBuffer` and `ZSTD_outBuffer`.
    struct Buffer {
        var start: UnsafeMutableRawPointer?
        var size: Int
        var position = 0
    }

    struct Library: Sendable {
        typealias Create = @Sendable @convention(c) () -> OpaquePointer?
        typealias Free = @Sendable @convention(c) (OpaquePointer) -> Int
        typealias SetParameter = @Sendable @convention(c) (OpaquePointer, CInt, CInt) -> Int
        /// Its parameters are the stream, the output and the input.
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
    /// Whether no frame has begun, or the last one has ended.
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
        // One frame can follow another.
        while target.position < target.size, source.position < source.size || !isComplete {
            let (read, written) = (source.position, target.position)
            let code = library.decompress(stream, &target, &source)
            guard library.isError(code) == 0 else {
                throw .broken(library.errorName(code).map { String(cString: $0) } ?? "invalid data")
            }
            isComplete = code == 0
            // Everything that can be decoded without more input has been decoded.
            guard source.position < source.size else { break }
            guard source.position > read || target.position > written else { throw .broken("nothing follows") }
        }
        input.removeFirst(source.position)
        return target.position
    }
}
