import ArgumentParser

/// What is shown of a document.
struct XMLOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Show only what this XPath 1.0 expression gives.", valueName: "expression"))
    var xpath: String?

    @Option(
        name: .customLong("ns"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The namespace that a prefix means in the expression. Repeat it for more.", valueName: "prefix=URI"))
    var namespaces: [String] = []

    @Flag(help: "Read an HTML page, and repair what is wrong with it.")
    var html = false
}
