/// Decodes the `br` content coding (RFC 7932) with the system's libbrotlidec.
final class BrotliCoding: ContentCoding {
    struct Library: Sendable {
        typealias Pointer = UnsafeMutableRawPointer
        typealias Create = @Sendable @convention(c) (Pointer?, Pointer?, Pointer?) -> OpaquePointer?
        typealias Destroy = @Sendable @convention(c) (OpaquePointer) -> Void
        /// Its parameters are the state, the size and start of the input, the size and start of the output, and an unused count.
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
            // The decoder needs more input or more room.
            case 2, 3: break
            default: throw .broken("invalid data")
            }
        }
        input.removeFirst(input.count - available)
        guard !hasEnded || input.isEmpty else { throw .excess }
        return output.count - room
    }
}
