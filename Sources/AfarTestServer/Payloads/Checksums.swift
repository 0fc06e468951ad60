/// The checksums that gzip, zlib and PNG end with.
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

    /// The CRC of many zero bytes, found by squaring: a zero byte maps the register by a linear function, here given by
    /// its images of the 32 single bits.
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
