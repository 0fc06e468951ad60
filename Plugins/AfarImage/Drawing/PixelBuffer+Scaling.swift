import CPixman

extension PixelBuffer {
    /// The same picture in another size.
    ///
    /// Rows and columns are resampled one after the other, which takes time that grows with the filter's width and not with
    /// its square.
    ///
    /// - Throws: ``ImageError`` when the memory does not suffice.
    func scaled(to size: PixelSize) throws -> PixelBuffer {
        try resampled(to: PixelSize(width: size.width, height: height)).resampled(to: size)
    }

    private func resampled(to size: PixelSize) throws -> PixelBuffer {
        guard size != PixelSize(width: width, height: height) else { return self }
        return try PixelBuffer(width: size.width, height: size.height, isOpaque: isOpaque) { bytes in
            try withPixmanImage { source in
                try source.setScaling(Double(width) / Double(size.width), Double(height) / Double(size.height))
                try PixmanImage.with(bytes, size) { $0.draw(source, PIXMAN_OP_SRC, x: 0, y: 0, size) }
            }
        }
    }
}
