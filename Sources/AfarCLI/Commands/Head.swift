import Afar
import ArgumentParser

struct Head: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch the status and the headers, without the body.",
        usage: "afar head <url> [<options>]",
        examples: [
            "afar head example.com",
            "afar head example.com --verbose",
        ])
    static let method = HTTPMethod.head
    @OptionGroup(visibility: .hidden) var body: BodyOptions
    @OptionGroup var request: RequestOptions
}
