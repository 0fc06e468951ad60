extension Image {
    /// A picture of an animation.
    public struct Frame: Sendable, Equatable {
        /// The whole picture, as large as the others, without frames of its own.
        public let image: Image
        /// How long it is shown, as it stands in the file: browsers show one of 10 milliseconds or less for 100.
        public let duration: Duration

        /// Makes a frame.
        public init(image: Image, duration: Duration) {
            self.image = image.isAnimated ? Image(image.pixels, scale: image.scale) : image
            self.duration = duration
        }
    }
}
