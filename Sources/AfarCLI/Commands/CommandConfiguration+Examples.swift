import ArgumentParser

extension CommandConfiguration {
    /// Makes a configuration whose help ends with examples, one a line.
    init(
        commandName: String? = nil, abstract: String, usage: String? = nil, discussion: String = "", examples: [String],
        subcommands: [any ParsableCommand.Type] = []
    ) {
        self.init(
            commandName: commandName, abstract: abstract, usage: usage,
            discussion: (discussion.isEmpty ? "" : discussion + "\n\n") + Self.section(examples),
            subcommands: subcommands)
    }

    /// A section of examples, as it stands in a help.
    static func section(_ examples: [String]) -> String {
        "EXAMPLES:\n" + examples.map { "  \($0)" }.joined(separator: "\n")
    }
}
