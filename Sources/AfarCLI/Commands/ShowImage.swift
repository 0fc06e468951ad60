import Afar
import AfarImage
import ArgumentParser
import Foundation

struct ShowImage: ResponseCommand {
    static let configuration = CommandConfiguration(
        commandName: "image",
        abstract: "Show an image in the terminal, or write it in another size or format.",
        usage: "afar image <url-or-file> [--resize <size>] [--output <file>] [<options>]",
        discussion: """
            PNG, JPEG and WebP are read, whatever the server calls them, and written, as the file's name ends. A terminal \
            shows half a character for a pixel, or real pixels with --sixel and where it says that it can.
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
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
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
            includesHead: output.include, name: name)
    }
}

// MARK: - Options

/// What is done with an image.
struct ImageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The size in pixels that it is to fit into, with its shape kept: 320x200, or 320x and x200 for one side.",
            valueName: "size"))
    var resize: ImageSize?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write it into a file, as PNG, JPEG or WebP, and print the file's path.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("How good a JPEG or a lossy WebP is: from 1 to 100.", valueName: "number"))
    var quality: Int?

    @Flag(help: "Replace a file that is there already.")
    var force = false

    @Flag(help: "Show real pixels, on a terminal that understands sixels.")
    var sixel = false

    func validate() throws {
        if let quality, !(1...100).contains(quality) {
            throw ValidationError("--quality is a number from 1 to 100.")
        }
    }
}

/// What `--resize` names: a width, a height or both.
struct ImageSize: ExpressibleByArgument, Equatable {
    /// The width and the height in pixels; 0 where any will do.
    let width: Int
    let height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Reads "320x", "x200" or "320x200".
    init?(argument: String) {
        let sides = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { side in
            side.isEmpty ? 0 : Int(side).flatMap { (1...30_000).contains($0) ? $0 : nil }
        }
        guard sides.count == 2, let width = sides[0], let height = sides[1], width + height > 0 else { return nil }
        self.init(width: width, height: height)
    }

    /// What a decoder needs to know.
    var target: CGSize { CGSize(width: CGFloat(width), height: CGFloat(height)) }

    /// The greatest size of a shape that fits in here.
    ///
    /// - Parameters:
    ///   - ownWidth: The width in pixels of what has the shape.
    ///   - ownHeight: Its height.
    ///   - enlarges: Whether it may be larger than that.
    func fitting(width ownWidth: Int, height ownHeight: Int, enlarges: Bool) -> CGSize {
        let (across, down) = (CGFloat(width) / CGFloat(ownWidth), CGFloat(height) / CGFloat(ownHeight))
        let ratio = width == 0 ? down : height == 0 ? across : min(across, down)
        guard enlarges || ratio < 1 else { return CGSize(width: CGFloat(ownWidth), height: CGFloat(ownHeight)) }
        return CGSize(width: max(1, CGFloat(ownWidth) * ratio), height: max(1, CGFloat(ownHeight) * ratio))
    }
}

// MARK: - Printing

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

// MARK: - Files

/// A file with an image, there or to be written.
struct ImageFile {
    let path: String

    init(path: String) { self.path = path }

    /// Makes the file of an argument that may be a URL as well; nil where there is none.
    init?(existingAt path: String) {
        var isDirectory: ObjCBool = false
        guard !path.contains("://"), FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
            !isDirectory.boolValue
        else { return nil }
        self.init(path: path)
    }

    /// All bytes, unless they are more than an image may have.
    func read() throws -> Data {
        let limit = ImageLimits().maximumBytes
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw Failure(.usage, "\(path): \(Failure.systemReason).")
        }
        defer { try? handle.close() }
        do {
            // One more tells that there are too many.
            return try handle.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw Failure(.usage, "\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// What writes the format that the file's name ends with.
    func encoder(quality: Int?) throws(Failure) -> any ImageEncoder {
        let suffix = URL(filePath: path).pathExtension.lowercased()
        if ImageFormat.png.fileExtensions.contains(suffix) {
            guard quality == nil else {
                throw Failure(.usage, "PNG keeps every pixel, so --quality does not go with it.")
            }
            return .png
        }
        if ImageFormat.jpeg.fileExtensions.contains(suffix) { return .jpeg(quality: quality ?? 85) }
        if ImageFormat.webP.fileExtensions.contains(suffix) { return .webP(quality: quality ?? 80) }
        throw Failure(.usage, "\(path) does not end as a format that can be written: .png, .jpg or .webp.")
    }

    /// Throws when there is something already that must stay.
    func checkOverwrite(isForced: Bool) throws(Failure) {
        guard !isForced, FileManager.default.fileExists(atPath: path) else { return }
        throw Failure(.usage, "\(path) is there already. Replace it with --force, or name another with -o.")
    }

    func write(_ data: Data, isForced: Bool) throws(Failure) {
        do {
            try data.write(to: URL(filePath: path), options: isForced ? .atomic : .withoutOverwriting)
        } catch {
            throw Failure(.other, "\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
