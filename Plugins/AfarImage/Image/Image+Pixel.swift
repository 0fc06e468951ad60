extension Image {
    /// A colour with its opacity.
    public struct Pixel: Hashable, Sendable {
        /// Red, premultiplied with ``alpha``: at most as large as that.
        public let red: UInt8
        /// Green, premultiplied with ``alpha``.
        public let green: UInt8
        /// Blue, premultiplied with ``alpha``.
        public let blue: UInt8
        /// The opacity; 255 is opaque.
        public let alpha: UInt8

        /// Makes a pixel.
        public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
        }

        /// Opaque white.
        public static let white = Pixel(red: 255, green: 255, blue: 255)
        /// Opaque black.
        public static let black = Pixel(red: 0, green: 0, blue: 0)
        /// Nothing.
        public static let clear = Pixel(red: 0, green: 0, blue: 0, alpha: 0)
    }
}
