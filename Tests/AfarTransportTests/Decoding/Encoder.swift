import CZlib
import Foundation

/// Encodes test bodies.
enum Encoder {
    static func encode(_ data: Data, _ coding: String) throws -> Data {
        switch coding {
        case "gzip", "x-gzip": try deflated(data, windowBits: 31)
        case "deflate": try deflated(data, windowBits: 15)
        case "raw": try deflated(data, windowBits: -15)
        case "br": try brotli(data)
        case "zstd": try zstandard(data)
        default: throw CocoaError(.featureUnsupported)
        }
    }

    static func deflated(_ data: Data, windowBits: Int32, header: gz_header? = nil) throws -> Data {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard
            deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { throw CocoaError(.coderInvalidValue) }
        defer { deflateEnd(&stream) }
        var (header, input) = (header, [UInt8](data))
        var output = [UInt8](repeating: 0, count: data.count + data.count / 100 + 1_000)
        return try withUnsafeMutablePointer(to: &header) { header in
            if header.pointee != nil {
                header.withMemoryRebound(to: gz_header.self, capacity: 1) { _ = deflateSetHeader(&stream, $0) }
            }
            return try input.withUnsafeMutableBufferPointer { input in
                try output.withUnsafeMutableBufferPointer { output in
                    (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                    (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                    guard deflate(&stream, Z_FINISH) == Z_STREAM_END else { throw CocoaError(.coderInvalidValue) }
                    return Data(output.dropLast(Int(stream.avail_out)))
                }
            }
        }
    }

    private static func function<Function>(
        _ name: String, in library: String, as type: Function.Type
    ) throws -> Function {
        guard let handle = dlopen(library, RTLD_NOW), let symbol = dlsym(handle, name) else {
            throw CocoaError(.featureUnsupported)
        }
        return unsafeBitCast(symbol, to: type)
    }

    private static func brotli(_ data: Data) throws -> Data {
        typealias Compress =
            @convention(c) (
                CInt, CInt, CInt, Int, UnsafeRawPointer, UnsafeMutablePointer<Int>, UnsafeMutableRawPointer
            ) -> CInt
        let compress = try function("BrotliEncoderCompress", in: "libbrotlienc.so.1", as: Compress.self)
        var output = [UInt8](repeating: 0, count: data.count + 10_000)
        var count = output.count
        guard compress(5, 22, 0, data.count, Array(data) + [0], &count, &output) == 1 else {
            throw CocoaError(.coderInvalidValue)
        }
        return Data(output.prefix(count))
    }

    private static func zstandard(_ data: Data) throws -> Data {
        typealias Compress =
            @convention(c) (UnsafeMutableRawPointer, Int, UnsafeRawPointer, Int, CInt) -> Int
        let compress = try function("ZSTD_compress", in: "libzstd.so.1", as: Compress.self)
        var output = [UInt8](repeating: 0, count: data.count + 10_000)
        let count = compress(&output, output.count, Array(data) + [0], data.count, 3)
        guard count <= output.count else { throw CocoaError(.coderInvalidValue) }
        return Data(output.prefix(count))
    }
}
