/// Numbers in bytes, of which none is read beyond the end.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer
    var isLittleEndian = false

    func uint16(at place: Int) -> UInt16? {
        guard place >= 0, bytes.count >= 2, place <= bytes.count - 2 else { return nil }
        let value = bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self)
        return isLittleEndian ? UInt16(littleEndian: value) : UInt16(bigEndian: value)
    }

    func uint32(at place: Int) -> UInt32? {
        guard place >= 0, bytes.count >= 4, place <= bytes.count - 4 else { return nil }
        let value = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        return isLittleEndian ? UInt32(littleEndian: value) : UInt32(bigEndian: value)
    }
}
