import Afar
import ArgumentParser

struct ShowXML: AsyncParsableCommand {
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
    @OptionGroup var request: RequestOptions

    func run() async throws {
        let plan = try RequestPlan(.get, request.address, request)
        let printer = XMLPrinter(
            style: request.colors.style(for: .standardOutput), includesHead: request.output.include,
            readsHTML: document.html, query: try XPathQuery(document), charset: request.output.charset,
            url: Redaction.standard.url(plan.url))
        try await RequestRunner(plan: plan, options: request, printer: printer).run()
    }
}
