import ArgumentParser

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
