import Afar
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
