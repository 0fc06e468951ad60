import Afar
import ArgumentParser

struct Upload: ResponseCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send a file, or a form of several parts.",
        usage: "afar upload <url> --file <path> | --part <part> ... [<options>]",
        discussion: """
            A file is read while it is sent. The response is printed as that of the other commands is; progress is shown on \
            the standard error stream.
            """,
        examples: [
            "afar upload :8080/files --file archive.tar.gz",
            "afar upload :8080/notes/1 --method PUT --file note.txt --type text/markdown",
            "afar upload :8080/form --part name=Ada --part picture=@ada.png",
            "afar upload :8080/form --part 'picture=@a.png;filename=ada.png'",
            "gzip < note.txt | afar upload :8080/notes --file - -H 'X-Name: note.gz'",
        ])

    @OptionGroup(title: "Upload") var upload: UploadOptions
    @OptionGroup(title: "Progress") var progress: ProgressOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let method = HTTPMethod(rawValue: upload.method.uppercased())
        guard method != .get, method != .head else {
            throw Failure(.usage, "A \(method.rawValue) has no body. Choose another --method, such as PUT.")
        }
        var plan = try RequestPlan(method, address, self)
        let content = try UploadContent(upload, headers: plan.headers)
        if let type = content.type, plan.headers["Content-Type"] == nil { plan.headers.add(.contentType(type)) }
        try await UploadRunner(plan: plan, content: content, progress: progress, options: self).run()
    }
}
