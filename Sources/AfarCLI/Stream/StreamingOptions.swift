import ArgumentParser

/// Whether a response is printed while it comes.
struct StreamingOptions: ParsableArguments {
    @Flag(
        help: """
            Print the body as it comes, each piece at once. It is never held in memory; a slow reader holds the server back.
            """)
    var stream = false

    @Flag(help: "Print server-sent events as they come, until the server ends the stream.")
    var sse = false

    @Flag(help: "The same, each event as a JSON object in a line.")
    var sseJson = false

    /// What to print while it comes; nil to print the response when it is there.
    var format: StreamFormat? { sseJson ? .jsonEvents : sse ? .events : stream ? .bytes : nil }

    func validate() throws {
        guard !stream || !(sse || sseJson) else {
            throw ValidationError("--stream prints the body itself, --sse and --sse-json what is in it. Choose one.")
        }
    }
}
