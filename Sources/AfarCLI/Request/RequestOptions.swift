import ArgumentParser

/// What every request can be told.
struct RequestOptions: ParsableArguments {
    @Argument(
        help: "Where to. Without a scheme: https, or http for localhost, 127.… and [::1]; \":8080/x\" is localhost.")
    var url: String

    @Option(
        name: [.customShort("H"), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header. Repeat it for more.", valueName: "'Name: value'"))
    var headers: [String] = []

    @Option(
        name: .customLong("query"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Adds to the URL's query, encoded for you. Repeat it for more.", valueName: "name=value"))
    var query: [String] = []

    @Option(help: ArgumentHelp("How long all of it may take.", valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Exit with code 4 when the status is not 2xx; the body is printed all the same.")
    var checkStatus = false

    @Flag(name: .shortAndLong, help: "Print the status line and the headers before the body.")
    var include = false

    @Option(help: "What carries the request.")
    var transport = TransportChoice.standard

    @Option(help: "Colours and indented JSON: auto is for terminals; NO_COLOR is respected.")
    var color = ColorChoice.auto

    func validate() throws {
        if let timeout {
            guard timeout > 0, timeout <= 604_800 else {
                throw ValidationError("--timeout is in seconds, more than 0 and at most 604800 (a week).")
            }
        }
    }
}
