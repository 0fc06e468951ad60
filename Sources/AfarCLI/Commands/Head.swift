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
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions
}
