import ArgumentParser

/// What a request can carry. ``Body`` makes bytes of it.
struct BodyOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A member of a JSON object: name=text, or name:=3 for any JSON value. Repeat it for more.",
            valueName: "name=value"))
    var json: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A field of a URL-encoded form. Repeat it for more.", valueName: "name=value"))
    var form: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            The body as it is: a text, @file, or - for the standard input. Without a Content-Type header it is sent as \
            JSON if it is JSON, else as text if it is UTF-8.
            """,
            valueName: "text|@file|-"))
    var data: String?
}
