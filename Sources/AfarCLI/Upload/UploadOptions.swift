import ArgumentParser

/// What is uploaded, and how.
struct UploadOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("A file, sent as it is, or - for the standard input.", valueName: "path|-"),
        completion: .file())
    var file: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A part of a form: name=value, or name=@path for a file, with ;type=… and ;filename=… after the path where its \
            name does not say enough. Repeat it for more.
            """,
            valueName: "part"))
    var part: [String] = []

    @Option(help: ArgumentHelp("The file's content type. By default its name says it.", valueName: "type"))
    var type: String?

    @Option(help: "The method.")
    var method = "POST"
}
