import ArgumentParser

/// Whether a response is printed while it comes.
struct StreamingOptions: ParsableArguments {
    @Flag(
        help: """
            Print the body as it comes, each piece at once. It is never held in memory; a slow reader holds the server back.
            """)
    var stream = false
}
