import ArgumentParser

/// Where a download goes.
struct FileOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            The file, or the directory for a file named by the server or after the URL. By default that is the current \
            directory.
            """,
            valueName: "path"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace a file that is there already.")
    var force = false

    @Flag(
        help: """
            Go on where a download before broke off, and keep what arrives in PATH.part when this one does. Starts over \
            if the file has changed, or the server sends no parts.
            """)
    var resume = false
}
