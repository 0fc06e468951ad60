import ArgumentParser

/// Where a request goes.
struct AddressArgument: ParsableArguments {
    @Argument(
        help: "Where to. Without a scheme: https, or http for localhost, 127.… and [::1]; \":8080/x\" is localhost.")
    var url: String

    /// Whether there is nothing to see in it, as where a shell's variable was not set.
    var isBlank: Bool { url.allSatisfy(\.isWhitespace) }
}
