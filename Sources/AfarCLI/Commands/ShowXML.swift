import Afar
import ArgumentParser

struct ShowXML: ResponseCommand {
    static let configuration = CommandConfiguration(
        commandName: "xml",
        abstract: "Fetch an XML document, and show it or a part of it.",
        usage: "afar xml <url> [--xpath <expression>] [<options>]",
        discussion: """
            The document is indented. What an expression selects is printed one after the other: elements as XML, attributes \
            and texts as their text. When nothing is selected, the exit code is 1.
            """,
        examples: [
            "afar xml example.com/feed.xml",
            "afar xml :8080/xml --xpath '//title[1]/text()'",
            "afar xml :8080/feed --xpath //a:title --ns a=http://www.w3.org/2005/Atom",
            "afar xml example.com --html --xpath 'count(//a)'",
        ])

    @OptionGroup(title: "Document") var document: XMLOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let plan = try RequestPlan(.get, address, self)
        let printer = XMLPrinter(
            style: colors.style(for: .standardOutput), includesHead: output.include,
            readsHTML: document.html, query: try XPathQuery(document), charset: output.charset,
            url: Redaction.standard.url(plan.url))
        try await RequestRunner(plan: plan, options: self, printer: printer).run()
    }
}
