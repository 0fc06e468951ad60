import ArgumentParser

/// What every command that makes a request can be told.
struct RequestOptions: ParsableArguments {
    @Argument(
        help: "Where to. Without a scheme: https, or http for localhost, 127.… and [::1]; \":8080/x\" is localhost.")
    var url: String

    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
}
