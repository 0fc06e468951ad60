import CWebP

/// An animation in WebP that is being decoded.
struct WebPAnimation {
    private let source: WebPData
    private let container: OpaquePointer
    private let orientation: Orientation
    private let options: ImageDecodingOptions

    init(
        _ source: WebPData, _ container: OpaquePointer, _ orientation: Orientation, _ options: ImageDecodingOptions
    ) {
        self.source = source
        self.container = container
        self.orientation = orientation
        self.options = options
    }

    /// The animation with all its frames.
    ///
    /// - Throws: ``ImageError``.
    func image() throws -> Image {
        let canvas = PixelSize(
            width: Int(WebPDemuxGetI(container, WEBP_FF_CANVAS_WIDTH)),
            height: Int(WebPDemuxGetI(container, WEBP_FF_CANVAS_HEIGHT)))
        let count = Int(WebPDemuxGetI(container, WEBP_FF_FRAME_COUNT))
        try options.limits.check(width: canvas.width, height: canvas.height, of: .webP)
        try options.limits.check(frames: count, width: canvas.width, height: canvas.height, of: .webP)
        guard count > 0 else { throw ImageError.corrupt(.webP, "the animation has no frame") }
        let frames = try frames(canvas)
        guard frames.count == count else {
            throw ImageError.corrupt(.webP, "frame \(frames.count + 1) of \(count) cannot be decoded")
        }
        return try Image(frames: frames, loopCount: Int(WebPDemuxGetI(container, WEBP_FF_LOOP_COUNT)))
    }

    private func frames(_ canvas: PixelSize) throws -> [Image.Frame] {
        var decoding = WebPAnimDecoderOptions()
        guard WebPAnimDecoderOptionsInit(&decoding) != 0 else { throw Self.cannotBegin }
        decoding.color_mode = MODE_rgbA
        var source = source
        guard let decoder = WebPAnimDecoderNew(&source, &decoding) else { throw Self.cannotBegin }
        defer { WebPAnimDecoderDelete(decoder) }
        let target = canvas.covering(options.target, isTurned: orientation.isTurned)
        var frames: [Image.Frame] = []
        var before = 0
        while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
            var picture: UnsafeMutablePointer<UInt8>?
            var end: Int32 = 0
            guard WebPAnimDecoderGetNext(decoder, &picture, &end) != 0, let picture else { break }
            let bytes = UnsafeRawBufferPointer(start: picture, count: canvas.width * canvas.height * 4)
            let whole = try PixelBuffer(width: canvas.width, height: canvas.height) { pixels in
                pixels.copyMemory(from: bytes)
                return pixels.isOpaque
            }
            let pixels = try orientation.upright(whole.scaled(to: target))
            let duration = Duration.milliseconds(max(0, Int(end) - before))
            frames.append(Image.Frame(image: Image(pixels, scale: options.scale), duration: duration))
            before = Int(end)
        }
        return frames
    }

    private static let cannotBegin = ImageError(
        .outOfMemory, format: .webP, "There is no memory to decode the WebP animation")
}
