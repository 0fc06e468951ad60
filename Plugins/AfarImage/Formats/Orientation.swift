/// The orientation in which a file stores an image (Exif 2.32, section 4.6.4, tag 0x0112).
enum Orientation: UInt16 {
    case up = 1
    case upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left

    var swapsSides: Bool { rawValue >= Self.leftMirrored.rawValue }

    func upright(_ source: PixelBuffer) throws -> PixelBuffer {
        guard self != .up else { return source }
        let (width, height) = (source.width, source.height)
        // The source position of the first pixel, and the offsets to the source positions of the next pixels to the right and below.
        let (first, right, below) =
            switch self {
            case .up: (0, 1, width)
            case .upMirrored: (width - 1, -1, width)
            case .down: (width * height - 1, -1, -width)
            case .downMirrored: ((height - 1) * width, 1, -width)
            case .leftMirrored: (0, width, 1)
            case .right: ((height - 1) * width, -width, 1)
            case .rightMirrored: (width * height - 1, -width, -1)
            case .left: (width - 1, width, -1)
            }
        let (newWidth, newHeight) = swapsSides ? (height, width) : (width, height)
        return try PixelBuffer(width: newWidth, height: newHeight, isOpaque: source.isOpaque) { bytes in
            let target = bytes.assumingMemoryBound(to: UInt32.self)
            source.readPixels { source in
                for y in 0..<newHeight {
                    var place = first + y * below
                    for x in y * newWidth..<(y + 1) * newWidth {
                        target[x] = source[place]
                        place += right
                    }
                }
            }
        }
    }
}

extension Orientation {
    /// Reads the orientation from Exif data in TIFF 6.0 format. Invalid data means upright.
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
            // The entry itself contains the value, a single SHORT (16 bits).
            guard tag == 0x0112 else { continue }
            guard reader.uint16(at: place + 2) == 3, reader.uint32(at: place + 4) == 1 else { return nil }
            return reader.uint16(at: place + 8)
        }
        return nil
    }
}

/// Reads numbers from bytes, and returns nil beyond the end.
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
