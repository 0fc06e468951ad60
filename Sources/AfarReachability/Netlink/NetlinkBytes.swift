/// Bytes that the kernel sent, with every access checked. They are only valid while the buffer is, so what is read is copied.
struct NetlinkBytes {
    private let buffer: UnsafeRawBufferPointer

    init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }

    var count: Int { buffer.count }

    /// The number at an offset in the machine's byte order, or nil where there are not enough bytes.
    func load<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number? {
        guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
        return buffer.loadUnaligned(fromByteOffset: offset, as: Number.self)
    }

    /// The bytes from an offset on, or nil where the offset is past the end.
    func dropFirst(_ offset: Int) -> NetlinkBytes? {
        guard offset >= 0, offset <= count else { return nil }
        return NetlinkBytes(UnsafeRawBufferPointer(rebasing: buffer[offset...]))
    }

    /// So many bytes from an offset on, or nil where there are less.
    func slice(_ offset: Int, count length: Int) -> NetlinkBytes? {
        guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return nil }
        return NetlinkBytes(UnsafeRawBufferPointer(rebasing: buffer[offset..<offset + length]))
    }

    /// The text up to a zero byte or the end.
    var string: String { String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self) }

    /// The address that the bytes are; 4 or 16 of them.
    var address: IPAddress? { IPAddress(bytes: buffer) }

    /// The address that the bytes begin with: a kernel may send 16 for an IPv4 address, or cut zeros off.
    func address(_ family: IPAddress.Family) -> IPAddress? {
        slice(0, count: family.bitCount / 8)?.address
    }
}
