import Afar
import AfarImage
import Foundation

/// Prints a response that is an image: on a terminal, or into a file.
struct ImagePrinter: BodyPrinter {
    /// The file, and what writes it.
    private typealias Target = (file: ImageFile, encoder: any ImageEncoder)

    private let options: ImageOptions
    /// Where it is drawn when it does not go into a file.
    private let canvas: TerminalCanvas?
    private let style: Style
    private let includesHead: Bool
    private let name: String
    private let target: Target?

    /// - Parameters:
    ///   - options: What is done with the image.
    ///   - canvas: Where it is drawn; nil when it goes into a file.
    ///   - style: How a head is printed.
    ///   - includesHead: Whether it is.
    ///   - name: What the image is called in messages: its URL or its path.
    init(options: ImageOptions, canvas: TerminalCanvas?, style: Style, includesHead: Bool, name: String) throws {
        self.options = options
        self.canvas = canvas
        self.style = style
        self.includesHead = includesHead
        self.name = Redaction.standard.url(name)
        guard let path = options.output else {
            guard options.quality == nil else {
                throw Failure(.usage, "--quality is for a file: name one with --output.")
            }
            target = nil
            return
        }
        let file = ImageFile(path: path)
        target = try (file, file.encoder(quality: options.quality))
        try file.checkOverwrite(isForced: options.force)
    }

    func output(head: ResponseHead, body: Data) throws -> Data {
        do {
            let output = try output(of: body)
            return includesHead ? Data(ResponsePrinter.lines(of: head, style).utf8) + output : output
        } catch let failure as Failure where failure.status == .response && !(200..<300).contains(head.status) {
            throw Failure(.response, "\(failure.message) It is \(StatusLine.text(of: head.status)).")
        }
    }

    /// What is printed for the bytes of an image.
    func output(of data: Data) throws -> Data {
        let box = options.resize ?? canvas?.size
        do {
            let decoding = ImageDecodingOptions(targetSize: box?.target)
            var image = try Image(data: data, options: decoding)
            if let box {
                let size = box.fitting(width: image.width, height: image.height, enlarges: options.resize != nil)
                image = try scaled(image, to: size)
            }
            guard let target else { return Data((canvas?.text(of: image) ?? "").utf8) }
            try target.file.write(target.encoder.encode(image), isForced: options.force)
            return Data("\(target.file.path)\n".utf8)
        } catch let error as ImageError {
            let status: ExitReason = error.code == .encodingFailed ? .other : .response
            throw Failure(status, "\(name): \(error.message).")
        }
    }

    private func scaled(_ image: Image, to size: CGSize) throws(Failure) -> Image {
        let scaled = image.imageScaled(to: size)
        let (width, height) = (size.width.rounded(), size.height.rounded())
        // Beyond what an image may have, it stays as it is.
        if CGFloat(scaled.width) == width, CGFloat(scaled.height) == height { return scaled }
        let limits = ImageLimits()
        let most = image.isAnimated ? "\(limits.maximumTotalPixels) in all frames" : "\(limits.maximumPixels) in all"
        throw Failure(
            .usage,
            "\(name) cannot become \(Int(width)) × \(Int(height)) pixels: it may have at most \(Image.maximumDimension) in "
                + "each direction and \(most). Give --resize a smaller size.")
    }
}
