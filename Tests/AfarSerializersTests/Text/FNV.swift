/// The 64-bit FNV-1a checksum.
struct FNV {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    mutating func add(_ number: UInt32) {
        add([0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) })
    }
}
