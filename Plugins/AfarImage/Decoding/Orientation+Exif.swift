extension Orientation {
    /// Reads the orientation of Exif data, which is a file in the format TIFF 6.0. What is no such file is upright.
    init(exif: UnsafeRawBufferPointer) {
        self = Self.value(in: ByteReader(bytes: exif)).flatMap(Orientation.init(rawValue:)) ?? .up
    }

    private static func value(in reader: ByteReader) -> UInt16? {
        var reader = reader
        guard let mark = reader.bytes.count >= 2 ? (reader.bytes[0], reader.bytes[1]) : nil else { return nil }
        switch mark {
        case (0x49, 0x49): reader.isLittleEndian = true
        case (0x4D, 0x4D): reader.isLittleEndian = false
        default: return nil
        }
        guard reader.uint16(at: 2) == 42, let directory = reader.uint32(at: 4).map(Int.init),
            let count = reader.uint16(at: directory).map(Int.init)
        else { return nil }
        for entry in 0..<count {
            let place = directory + 2 + entry * 12
            guard let tag = reader.uint16(at: place) else { return nil }
            // A SHORT of which there is one stands in the entry itself.
            guard tag == 0x0112 else { continue }
            guard reader.uint16(at: place + 2) == 3, reader.uint32(at: place + 4) == 1 else { return nil }
            return reader.uint16(at: place + 8)
        }
        return nil
    }
}
