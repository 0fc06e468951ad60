extension UnsafeBufferPointer<UInt8> {
    /// How many bytes at the beginning are below 0x80.
    var lengthOfASCIIPrefix: Int {
        let raw = UnsafeRawBufferPointer(self)
        var index = 0
        while index + 8 <= count {
            let high = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian & 0x8080_8080_8080_8080
            if high != 0 { return index + high.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, self[index] < 0x80 { index += 1 }
        return index
    }
}
