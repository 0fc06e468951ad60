import Afar
import AfarImage
import ArgumentParser
import Foundation

struct ShowImage: ResponseCommand {
    static let configuration = CommandConfiguration(
        commandName: "image",
        abstract: "Show an image in the terminal, or save it in another size or format.",
        usage: "afar image <url-or-file> [--resize <size>] [--output <file>] [<options>]",
        discussion: """
            Reads PNG, JPEG and WebP, whatever the content type, and writes the format of the output file's extension. A \
            terminal shows each pixel as half a character, or real pixels with --sixel or if it reports sixel support.
            """,
        examples: [
            "afar image example.com/photo.jpg",
            "afar image example.com/photo.jpg --resize 320x --output thumb.webp",
            "afar image photo.png --resize 800x600 --output photo.jpg --quality 90",
            "afar image :8080/image/png --sixel",
        ])

    @OptionGroup(title: "Image") var image: ImageOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Request") var jar: CookieJarOptions
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Output") var messages: MessageOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        if let file = ImageFile(existingAt: address.url) {
            return try StandardOutput.write(printer(for: file.path).output(of: file.read()))
        }
        let plan = try RequestPlan(.get, address, self)
        try await RequestRunner(plan: plan, options: self, printer: printer(for: plan.url)).run()
    }

    private func printer(for name: String) throws -> ImagePrinter {
        let facts = OutputFacts.standardOutput
        let style = colors.style(for: facts)
        return try ImagePrinter(
            options: image, canvas: image.output == nil ? TerminalCanvas(image, facts, style) : nil, style: style,
            includesHead: parts(of: .get, showsHead: false).contains(.responseHead), name: name)
    }
}

// MARK: - Options

/// The options for an image.
struct ImageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Scale the image to fit this size in pixels, with its proportions: 320x200, or 320x or x200 for one side.",
            valueName: "size"))
    var resize: ImageSize?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the image to this PNG, JPEG or WebP file and print its path.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The quality of a JPEG or lossy WebP file, from 1 to 100. (default: 85 or 80)", valueName: "number"))
    var quality: Int?

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(help: "Show real pixels on a terminal that supports sixels.")
    var sixel = false

    func validate() throws {
        if let quality, !(1...100).contains(quality) {
            throw ValidationError("--quality must be a number from 1 to 100.")
        }
    }
}

/// The value of `--resize`: a width, a height or both.
struct ImageSize: ExpressibleByArgument, Equatable {
    /// The width in pixels, or 0 if only the height is limited. Likewise, `height` is 0 if only the width is limited.
    let width: Int
    let height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Parses "320x", "x200" or "320x200".
    init?(argument: String) {
        let sides = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { side in
            side.isEmpty ? 0 : Int(side).flatMap { (1...30_000).contains($0) ? $0 : nil }
        }
        guard sides.count == 2, let width = sides[0], let height = sides[1], width + height > 0 else { return nil }
        self.init(width: width, height: height)
    }

    /// The target size for a decoder.
    var target: CGSize { CGSize(width: CGFloat(width), height: CGFloat(height)) }

    /// Returns the largest size that fits within this size and keeps an image's proportions.
    ///
    /// - Parameters:
    ///   - ownWidth: The image's width in pixels.
    ///   - ownHeight: The image's height in pixels.
    ///   - enlarges: Whether the result can be larger than the image.
    func fitting(width ownWidth: Int, height ownHeight: Int, enlarges: Bool) -> CGSize {
        let (across, down) = (CGFloat(width) / CGFloat(ownWidth), CGFloat(height) / CGFloat(ownHeight))
        let ratio = width == 0 ? down : height == 0 ? across : min(across, down)
        guard enlarges || ratio < 1 else { return CGSize(width: CGFloat(ownWidth), height: CGFloat(ownHeight)) }
        return CGSize(width: max(1, CGFloat(ownWidth) * ratio), height: max(1, CGFloat(ownHeight) * ratio))
    }
}

// MARK: - Printing

/// Draws an image response on a terminal, or writes it to a file.
struct ImagePrinter: BodyPrinter {
    /// The output file and its encoder.
    private typealias Target = (file: ImageFile, encoder: any ImageEncoder)

    private let options: ImageOptions
    /// The canvas; nil if the image is written to a file.
    private let canvas: TerminalCanvas?
    private let style: Style
    private let includesHead: Bool
    private let name: String
    private let target: Target?

    /// - Parameters:
    ///   - options: The options for the image.
    ///   - canvas: The canvas; nil if the image is written to a file.
    ///   - style: The style of the response head.
    ///   - includesHead: Whether to print the response head.
    ///   - name: The image's URL or path, for messages.
    init(options: ImageOptions, canvas: TerminalCanvas?, style: Style, includesHead: Bool, name: String) throws {
        self.options = options
        self.canvas = canvas
        self.style = style
        self.includesHead = includesHead
        self.name = Redaction.standard.url(name)
        guard let path = options.output else {
            guard options.quality == nil else {
                throw Failure(.usage, "--quality requires an output file. Name one with --output.")
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
            throw Failure(.response, "\(failure.message) The status is \(StatusLine.text(of: head.status)).")
        }
    }

    /// Draws or writes an image and returns what to print.
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
        // An image that would exceed the limits is returned unscaled.
        if CGFloat(scaled.width) == width, CGFloat(scaled.height) == height { return scaled }
        let limits = ImageLimits()
        let most = image.isAnimated ? "\(limits.maximumTotalPixels) in all frames" : "\(limits.maximumPixels) in total"
        throw Failure(
            .usage,
            "\(name) cannot be scaled to \(Int(width)) × \(Int(height)) pixels: the limit is \(Image.maximumDimension) in "
                + "each direction and \(most). Choose a smaller size for --resize.")
    }
}

// MARK: - Files

/// An image file to read or write.
struct ImageFile {
    let path: String

    init(path: String) { self.path = path }

    /// Creates a reference to an existing file. Returns nil if the argument is a URL or the file doesn't exist.
    init?(existingAt path: String) {
        var isDirectory: ObjCBool = false
        guard !path.contains("://"), FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
            !isDirectory.boolValue
        else { return nil }
        self.init(path: path)
    }

    /// Returns the file's bytes. If the file exceeds the size limit of images, reads it only up to one byte beyond the
    /// limit.
    func read() throws -> Data {
        let limit = ImageLimits().maximumBytes
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw Failure(.usage, "\(path): \(Failure.systemReason).")
        }
        defer { try? handle.close() }
        do {
            return try handle.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw Failure(.usage, "\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// Returns the encoder for the file's extension.
    func encoder(quality: Int?) throws(Failure) -> any ImageEncoder {
        let suffix = URL(filePath: path).pathExtension.lowercased()
        if ImageFormat.png.fileExtensions.contains(suffix) {
            guard quality == nil else {
                throw Failure(.usage, "PNG is lossless, so --quality doesn't apply. Leave it out.")
            }
            return .png
        }
        if ImageFormat.jpeg.fileExtensions.contains(suffix) { return .jpeg(quality: quality ?? 85) }
        if ImageFormat.webP.fileExtensions.contains(suffix) { return .webP(quality: quality ?? 80) }
        throw Failure(.usage, "The extension of \(path) must be .png, .jpg or .webp.")
    }

    /// Throws a ``Failure`` if the file exists and `isForced` is false.
    func checkOverwrite(isForced: Bool) throws(Failure) {
        guard !isForced, FileManager.default.fileExists(atPath: path) else { return }
        throw Failure(.usage, "\(path) already exists. Replace it with --force, or choose another with -o.")
    }

    func write(_ data: Data, isForced: Bool) throws(Failure) {
        do {
            try data.write(to: URL(filePath: path), options: isForced ? .atomic : .withoutOverwriting)
        } catch {
            throw Failure(.other, "\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
