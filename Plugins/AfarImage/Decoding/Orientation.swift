/// How the rows and columns of a file are turned into those of a picture (Exif 2.32, section 4.6.4, tag 0x0112).
enum Orientation: UInt16 {
    case up = 1
    case upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left

    /// Whether width and height change places.
    var isTurned: Bool { rawValue >= Self.leftMirrored.rawValue }

    /// The same picture upright.
    func upright(_ source: PixelBuffer) throws -> PixelBuffer {
        guard self != .up else { return source }
        let (width, height) = (source.width, source.height)
        // Where the first pixel comes from, and how far the next one in the row and the one below it are from there.
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
        let (newWidth, newHeight) = isTurned ? (height, width) : (width, height)
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
