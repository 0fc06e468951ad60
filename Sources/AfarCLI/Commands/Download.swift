import Afar
import ArgumentParser

struct Download: AsyncParsableCommand, RequestSending {
    static let configuration = CommandConfiguration(
        abstract: "Save a resource to a file.",
        usage: "afar download <url> [-o <path>] [<options>]",
        discussion: """
            The file appears when it is whole; its path is all that is printed. A status that is not 2xx saves nothing and \
            ends with code 4.
            """,
        examples: [
            "afar download example.com/archive.tar.gz",
            "afar download example.com/archive.tar.gz -o /tmp/a.tgz --force",
            "afar download :8080/report -o reports/ --no-progress",
            "afar download example.com/large.iso --resume",
        ])

    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "File") var file: FileOptions
    @OptionGroup(title: "Progress") var progress: ProgressOptions
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func validate() throws { try checkSending() }

    func run() async throws {
        var plan = try RequestPlan(.get, address, self)
        if plan.headers["Accept-Encoding"] == nil {
            // A file is wanted as it is, and its length beforehand.
            plan.headers.add(name: "Accept-Encoding", value: "identity")
        }
        try await DownloadRunner(plan: plan, options: self).run()
    }
}
