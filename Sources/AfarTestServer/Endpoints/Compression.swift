import Foundation

/// Responses with a content coding.
enum Compression {
    static func gzip(_ request: ServerRequest) throws -> ServerResponse {
        try encoded(request, "gzip") { Deflate.gzip($0) }
    }

    static func deflate(_ request: ServerRequest) throws -> ServerResponse {
        try encoded(request, "deflate") { Deflate.zlib($0) }
    }

    static func bomb(_ request: ServerRequest) throws -> ServerResponse {
        let count = try request.number("bytes", in: 0...1_000_000_000, default: 50_000_000)
        return .content("application/octet-stream", Data(Deflate.gzip(zeros: count)))
            .adding("Content-Encoding", "gzip")
    }

    private static func encoded(
        _ request: ServerRequest,
        _ coding: String,
        _ encode: ([UInt8]) -> [UInt8]
    ) throws -> ServerResponse {
        var document = Echo.document(request)
        document["encoding"] = coding
        var response = try Echo.json(document)
        if case .data(let data) = response.body { response.body = .data(Data(encode(Array(data)))) }
        return response.adding("Content-Encoding", coding)
    }
}

/// Creates valid deflate streams without a compressor, so the server needs no C library.
enum Deflate {
    /// Returns stored blocks, which aren't compressed.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(0xffff)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            result.append(rest.isEmpty ? 1 : 0)
            result += littleEndian(length) + littleEndian(~length) + block
        } while !rest.isEmpty
        return result
    }

    /// Returns compressed zero bytes. The compression ratio of about 159 to 1 is the maximum for the fixed Huffman code. The stream
    /// contains one literal zero, then copies of the previous byte, 258 at a time.
    static func zeros(_ count: Int) -> [UInt8] {
        let zero = (code: UInt32(0b0011_0000), length: 8)
        let copy258 = (code: UInt32(0b1100_0101_00000), length: 13)
        let copies = max(0, count - 1) / 258
        var bits = BitWriter()
        bits.append(code: 0b110, length: 3)
        for _ in 0..<min(count, 1) { bits.append(code: zero.code, length: zero.length) }
        for _ in 0..<copies { bits.append(code: copy258.code, length: copy258.length) }
        for _ in 0..<max(0, count - 1 - copies * 258) { bits.append(code: zero.code, length: zero.length) }
        bits.append(code: 0, length: 7)
        return bits.finished
    }

    static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        gzip(stream: stored(bytes), crc: Checksums.crc32(bytes), count: bytes.count)
    }

    static func gzip(zeros count: Int) -> [UInt8] {
        gzip(stream: zeros(count), crc: Checksums.crc32(zeros: count), count: count)
    }

    /// Returns bytes in the zlib format, which HTTP calls deflate.
    static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        [0x78, 0x01] + stored(bytes) + littleEndian(Checksums.adler32(bytes)).reversed()
    }

    private static func gzip(stream: [UInt8], crc: UInt32, count: Int) -> [UInt8] {
        let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        return header + stream + littleEndian(crc) + littleEndian(UInt32(truncatingIfNeeded: count))
    }

    private static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}

/// Packs Huffman codes. The first bit of a code goes into the lowest free bit.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var pending: UInt32 = 0
    private var count = 0

    mutating func append(code: UInt32, length: Int) {
        for shift in (0..<length).reversed() {
            pending |= (code >> UInt32(shift) & 1) << UInt32(count)
            count += 1
            if count == 8 { flush() }
        }
    }

    var finished: [UInt8] {
        var copy = self
        if count > 0 { copy.flush() }
        return copy.bytes
    }

    private mutating func flush() {
        bytes.append(UInt8(pending))
        pending = 0
        count = 0
    }
}

/// The checksums at the end of gzip, zlib and PNG data.
enum Checksums {
    static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in crcTable[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    }

    static func adler32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    /// Returns the CRC of many zero bytes, computed by repeated squaring. The effect of a zero byte on the CRC register is a linear
    /// function. The function is represented by its results for the 32 values in which a single bit is set.
    static func crc32(zeros count: Int) -> UInt32 {
        var power = (0..<32).map { bit in
            let crc = UInt32(1) << UInt32(bit)
            return crcTable[Int(crc & 0xff)] ^ (crc >> 8)
        }
        var crc = UInt32.max
        var left = count
        while left > 0 {
            if left & 1 == 1 { crc = apply(power, to: crc) }
            power = power.map { apply(power, to: $0) }
            left >>= 1
        }
        return ~crc
    }

    private static func apply(_ map: [UInt32], to value: UInt32) -> UInt32 {
        map.indices.reduce(0) { value >> UInt32($1) & 1 == 1 ? $0 ^ map[$1] : $0 }
    }

    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? 0xedb8_8320 ^ (crc >> 1) : crc >> 1 }
    }
}
