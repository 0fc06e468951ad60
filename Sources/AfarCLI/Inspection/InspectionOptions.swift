import ArgumentParser

/// What is shown of a request, beside the response or instead of it.
struct InspectionOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "Show the request, the response's head and the connection on the standard error stream.")
    var verbose = false

    @Flag(help: "Show where the time went, on the standard error stream.")
    var timing = false

    @Flag(help: "Send nothing: print the command line that makes curl send the same.")
    var curl = false

    @Flag(help: "Do not hide passwords, tokens and cookies behind *** in what --verbose and --curl show.")
    var showSecrets = false

    func validate() throws {
        if curl, timing { throw ValidationError("--curl sends nothing, so there is nothing for --timing to measure.") }
    }
}
