extension UnsafeMutableRawBufferPointer {
    /// Whether every RGBA pixel is opaque.
    var isOpaque: Bool { stride(from: 3, to: count, by: 4).allSatisfy { self[$0] == 255 } }

    /// Multiplies the colours of RGBA pixels with their alpha.
    ///
    /// - Returns: Whether every pixel is opaque.
    func premultiply() -> Bool {
        var isOpaque = true
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 {
            isOpaque = false
            let alpha = UInt32(self[place + 3])
            for channel in place..<(place + 3) { self[channel] = UInt8((UInt32(self[channel]) * alpha + 127) / 255) }
        }
        return isOpaque
    }

    /// Makes no colour of premultiplied RGBA pixels greater than alpha. A filter with negative weights may have made it so.
    func limitColorsToAlpha() {
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 {
            for channel in place..<(place + 3) { self[channel] = Swift.min(self[channel], self[place + 3]) }
        }
    }

    /// Divides the colours of premultiplied RGBA pixels by their alpha.
    func unpremultiply() {
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 && self[place + 3] != 0 {
            let alpha = UInt32(self[place + 3])
            for channel in place..<(place + 3) {
                self[channel] = UInt8(Swift.min(255, (UInt32(self[channel]) * 255 + alpha / 2) / alpha))
            }
        }
    }

    /// Lays premultiplied RGBA pixels over a colour, so that they are opaque.
    func flatten(over background: Image.Pixel) {
        let colors = [background.red, background.green, background.blue]
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 {
            let rest = UInt32(255 - self[place + 3])
            for channel in 0..<3 {
                let behind = (UInt32(colors[channel]) * rest + 127) / 255
                self[place + channel] = UInt8(Swift.min(255, UInt32(self[place + channel]) + behind))
            }
            self[place + 3] = 255
        }
    }
}
